// Results of commands, made up.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "base/strict_json.h"
#include "report/report.h"

namespace assay::report::tests {

inline Json head(const std::string& command, const std::string& commit = "1234567890abcdef") {
  return {{"schema", 2},
          {"command", command},
          {"version", "0.1.0"},
          {"argv", {"assay", command}},
          {"verdict", "PASS"},
          {"summary", "PASS: made up"},
          {"exit_code", 0},
          {"next", ""},
          {"origin",
           {{"commit", commit},
            {"parent", ""},
            {"kernels", ""},
            {"commit_date", ""},
            {"date", "2026-01-02T03:04:05Z"},
            {"harness", "assay 0.1.0"},
            {"compiler", "nvcc 13"},
            {"flags", ""},
            {"host_compiler", "GNU 12"}}},
          {"machine", {{"processor", "AMD EPYC"}, {"cores", "2"}}},
          {"device", Json::object()}};
}

inline Json claim(const std::string& variant, const std::string& name,
                  const std::string& status = "holds", const std::string& backend = "simt") {
  return {{"variant", variant},
          {"backend", backend},
          {"claim", name},
          {"status", status},
          {"reason", status == "holds" ? "" : "made up as " + status},
          {"cases", status == "exempt" ? 0 : 100},
          {"elements", 5000},
          {"worst_gulps", 2.0},
          {"allowed_gulps", 16.0}};
}

inline Json failing(const std::string& variant, const std::string& headline) {
  Json json = claim(variant, "within_bound", "fails");
  json["failure"] = {{"claim", "within_bound"},
                     {"leads", true},
                     {"headline", headline},
                     {"original", "m=100 n=200 k=300"},
                     {"shrunk", "m=33 n=65 k=17"},
                     {"before", Json::array()},
                     {"status", "wrong"},
                     {"finding", "wrong values"},
                     {"reason", "32 of 2145 elements are wrong"},
                     {"diagnosis", headline},
                     {"original_diagnosis", headline},
                     {"picture", "...\n..#\n"},
                     {"branch", Json()},
                     {"shrink_steps", 3},
                     {"shrunk_fully", true},
                     {"replay", "assay check " + variant + " --case \"m=33 n=65 k=17\""}};
  return json;
}

inline Json check(std::vector<Json> claims, std::uint64_t seed = 0,
                  const std::string& commit = "1234567890abcdef") {
  Json json = head("check", commit);
  json["seed"] = seed;
  json["cases"] = 100;
  json["case"] = Json();
  json["results"] = claims;
  return json;
}

inline Json cell(const std::string& variant, const std::string& status, double ratio,
                 const std::string& problem = "m=64 n=32 k=16") {
  return {{"variant", variant},
          {"problem", problem},
          {"status", status},
          {"unchanged", ratio == 0},
          {"reason", "made up as " + status},
          {"cause", status == "slower" ? "registers 40 -> 48" : ""},
          {"ratio", ratio},
          {"interval_99", {{"low", ratio - 0.002}, {"high", ratio + 0.002}}},
          {"anchor_ratio", ratio},
          {"detectable", 0.009},
          {"processes", ratio == 0 ? 0 : 12},
          {"head_us", 100 * ratio},
          {"baseline_us", ratio == 0 ? 0 : 100},
          {"repeat", "assay gate time --cell \"" + variant + " " + problem + "\""}};
}

inline Json gate(std::vector<Json> cells, const std::string& card = "NVIDIA H200") {
  Json json = head("gate time");
  json["device"] = {{"name", card}, {"key", "h200"}};
  json["seconds"] = 4.0;
  json["unfit"] = "";
  json["detectable"] = 0.0101;
  json["proven_unchanged"] = 0;
  for (const char* key : {"new_variants", "not_gated", "gone_variants", "not_watched"})
    json[key] = Json::array();
  json["results"] = cells;
  return json;
}

inline Json bench(const std::string& variant, const std::string& card,
                  const std::string& problem = "m=64 n=32 k=16") {
  Json json = head("bench");
  json["device"] = {{"name", card}};
  for (const char* key : {"seed", "processes"}) json[key] = 0;
  for (const char* key : {"seconds", "peak_tflops", "memory_gb_s"}) json[key] = 1.5;
  json["warm"] = false;
  json["unfit"] = "";
  const Json ratio = {{"value", 83.0}, {"low", 82.0}, {"high", 84.0}};
  Json line = {{"variant", variant}, {"problem", problem}, {"status", "timed"},
               {"reason", ""},       {"time_us", ratio},   {"percent_of_cublas", ratio}};
  for (const char* key : {"tflops", "percent_of_peak", "percent_of_roofline", "clock_mhz", "cold"})
    line[key] = 2.5;
  json["results"] = Json::array({line});
  return json;
}

// A folder of results that goes when the test ends.
class Results {
 public:
  Results() {
    std::string name = (std::filesystem::temp_directory_path() / "report-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~Results() { std::filesystem::remove_all(folder_); }
  Results(const Results&) = delete;
  Results& operator=(const Results&) = delete;

  std::string add(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
  std::string add(const std::string& name, const Json& json) const {
    return add(name, text_of(json));
  }
  Report report() const { return read_report({folder_.string()}); }
  std::string folder() const { return folder_.string(); }

 private:
  std::filesystem::path folder_;
};

}  // namespace assay::report::tests
