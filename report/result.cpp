#include "report/result.h"

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <regex>

#include "base/errors.h"
#include "base/json_schema.h"
#include "base/text.h"
#include "report/embedded.h"

namespace assay::report {
namespace {

// Fields that the schema has found to be there, or to be left out.
std::string text(const Json& json, const char* key) {
  return json.contains(key) && json[key].is_string() ? json[key].get<std::string>() : "";
}
double figure(const Json& json, const char* key) {
  return json.contains(key) && json[key].is_number() ? json[key].get<double>() : std::nan("");
}
std::int64_t count(const Json& json, const char* key) {
  return json.contains(key) ? json[key].get<std::int64_t>() : 0;
}
bool flag(const Json& json, const char* key) { return json.contains(key) && json[key] == true; }
const Json& list(const Json& json, const char* key) {
  static const Json none = Json::array();
  return json.contains(key) ? json[key] : none;
}
std::vector<std::string> words(const Json& json, const char* key) {
  return list(json, key).get<std::vector<std::string>>();
}
Interval interval(const Json& json, const char* value) {
  return {figure(json, value), figure(json, "low"), figure(json, "high")};
}

std::string machine_of(const Json& json) {
  const Json facts = json.value("machine", Json::object());
  const std::string processor = text(facts, "processor"), cores = text(facts, "cores");
  return processor.empty() ? "" : fmt::format("{}, {} cores", processor, cores);
}

// Commands name the facts of a card in two ways.
std::string card_of(const Json& json) {
  const Json device = json.value("device", Json::object());
  const std::string gpu = text(device, "GPU 0");
  for (const std::string& name :
       {text(device, "name"), gpu.substr(0, gpu.find(',')), text(device, "key")})
    if (!name.empty()) return name;
  return "";
}

std::string quoted(const std::string& word) {
  return word.find_first_of(" \"'$") == word.npos ? word : fmt::format("\"{}\"", word);
}

Source source_of(const Json& json, const std::string& file) {
  const Json origin = json.value("origin", Json::object());
  Source source = {.file = file,
                   .command = text(json, "command"),
                   .verdict = text(json, "verdict"),
                   .summary = text(json, "summary"),
                   .next = text(json, "next"),
                   .exit_code = static_cast<int>(count(json, "exit_code")),
                   .commit = text(origin, "commit"),
                   .commit_date = text(origin, "commit_date"),
                   .date = text(origin, "date"),
                   .machine = machine_of(json),
                   .card = card_of(json),
                   .unfit = text(json, "unfit"),
                   .detectable = figure(json, "detectable"),
                   .peak_tflops = figure(json, "peak_tflops")};
  std::vector<std::string> command;
  for (const std::string& word : words(json, "argv")) command.push_back(quoted(word));
  source.command_line = joined(command, " ");
  std::vector<std::string> compilers;
  for (const char* key : {"compiler", "host_compiler"})
    if (const std::string name = text(origin, key); !name.empty() && name != "none")
      compilers.push_back(name);
  source.compilers = joined(compilers);
  source.cases = fmt::format("{} of seed {} {}", count(json, "cases"), count(json, "seed"),
                             text(json, "case"));
  return source;
}

// Lines of source that a text names, such as "kernels/tiled.cu:31".
std::vector<Place> places_in(const std::string& text) {
  static const std::regex pattern(R"(([\w./-]+\.(?:cuh?|cpp|h)):(\d{1,7}))");
  std::vector<Place> places;
  for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at)
    places.push_back({(*at)[1], std::stoll((*at)[2])});
  return places;
}

std::optional<Failure> failure_of(const Json& result) {
  if (!result.contains("failure") || result["failure"].is_null()) return std::nullopt;
  const Json& json = result["failure"];
  Failure failure = {.claim = text(json, "claim"),
                     .headline = text(json, "headline"),
                     .original = text(json, "original"),
                     .shrunk = text(json, "shrunk"),
                     .status = text(json, "status"),
                     .reason = text(json, "reason"),
                     .picture = text(json, "picture"),
                     .replay = text(json, "replay"),
                     .leads = flag(json, "leads")};
  if (failure.claim.empty()) failure.claim = text(result, "claim");
  if (failure.headline.empty()) {  // schema 1
    const std::string diagnosis = text(json, "diagnosis");
    failure.headline = diagnosis.empty() ? failure.reason : diagnosis;
  }
  failure.places = places_in(failure.picture + "\n" + failure.reason);
  if (const Json& branch = json.contains("branch") ? json["branch"] : Json(); branch.is_object()) {
    const Place place = {text(branch, "file"), count(branch, "line")};
    const std::string condition = text(branch, "condition").empty()
                                      ? "a comparison"  // whose source could not be read
                                      : fmt::format("`{}`", text(branch, "condition"));
    const char* way = branch["is_true"].is_null() ? "goes the other way than in cases that pass"
                      : flag(branch, "is_true")   ? "is true"
                                                  : "is false";
    failure.branch = fmt::format("only where {} {}: {}:{}", condition, way, place.file, place.line);
    failure.places.push_back(place);
  }
  return failure;
}

void read_check(const Json& json, Result& result) {
  for (const Json& one : list(json, "variants")) {
    result.about.push_back({text(one, "name"), text(one, "idea"), text(one, "arithmetic"),
                            text(one, "order"), words(one, "needs"), count(one["tile"], "m"),
                            count(one["tile"], "n")});
  }
  for (const Json& one : list(json, "claims"))
    result.claim_names.push_back({text(one, "name"), text(one, "heading"), text(one, "sentence")});
  for (const Json& one : list(json, "results")) {
    result.claims.push_back({text(one, "variant"), text(one, "backend"), text(one, "claim"),
                             text(one, "status"), text(one, "reason"), count(one, "cases"),
                             count(one, "elements"), figure(one, "worst_gulps"),
                             figure(one, "allowed_gulps"), failure_of(one)});
  }
  for (const Json& one : list(json, "paths")) {
    Paths paths = {text(one, "variant"), text(one, "unknown"), count(one, "comparisons"),
                   count(one, "went_both_ways")};
    for (const Json& way : list(one, "one_way"))
      paths.one_way.push_back(
          {{text(way, "file"), count(way, "line")}, text(way, "source"), text(way, "evidence")});
    result.paths.push_back(std::move(paths));
  }
  for (const Json& one : list(json, "backends")) {
    if (!flag(one, "available"))
      result.not_tested.push_back(
          fmt::format("backend {}: {}", text(one, "backend"), text(one, "reason")));
  }
}

void read_gate(const Json& json, Result& result) {
  for (const Json& one : list(json, "results")) {
    Interval ratio = interval(one["interval_99"], "");
    ratio.value = figure(one, "ratio");
    const std::string problem = (flag(one, "host") ? "host " : "") + text(one, "problem");
    result.cells.push_back({text(one, "variant"), problem, text(one, "status"), text(one, "reason"),
                            text(one, "cause"), text(one, "repeat"), flag(one, "unchanged"), ratio,
                            figure(one, "anchor_ratio"), figure(one, "head_us"),
                            figure(one, "baseline_us"), count(one, "processes"), result.source.card,
                            figure(one, "accepted_to_anchor")});
  }
  const auto add = [&](const char* what, const char* key) {
    for (const std::string& one : words(json, key))
      result.not_tested.push_back(fmt::format("{}: {}", what, one));
  };
  add("not gated", "not_gated");
  add("not watched", "not_watched");
  add("new, without a baseline", "new_variants");
  add("gone, with a baseline that nothing is compared with", "gone_variants");
  add("without a baseline", "without_record");
  add("without an anchor", "without_anchor");
}

void read_bench(const Json& json, Result& result) {
  for (const Json& one : list(json, "results")) {
    result.timings.push_back(
        {text(one, "variant"), text(one, "arithmetic"), text(one, "problem"), text(one, "status"),
         text(one, "reason"), interval(one["time_us"], "value"),
         interval(one["percent_of_cublas"], "value"), figure(one, "tflops"),
         figure(one, "percent_of_peak"), figure(one, "percent_of_roofline"), result.source.card,
         figure(json, "peak_tflops"), figure(json, "memory_gb_s")});
  }
}

void read_counts(const Json& json, Result& result) {
  for (const Json& one : list(json, "results")) {
    Traffic sum = {.variant = text(one, "variant"),
                   .problem = text(json, "case"),
                   .status = text(one, "status"),
                   .reason = text(one, "reason"),
                   .intensity = figure(one, "intensity_moved")};
    for (const Json& launch : list(one, "launches")) {
      const Json& counts = launch["counts"];
      sum.load_requests += count(counts["global_loads"], "requests");
      sum.load_sectors += count(counts["global_loads"], "sectors");
      for (const char* kind : {"global_loads", "global_stores", "global_atomics", "global_copies",
                               "bulk_loads", "bulk_stores"})
        sum.bytes_moved += count(counts[kind], "bytes_moved");
      for (const char* kind : {"shared_loads", "shared_stores", "shared_atomics", "shared_copies"})
        sum.wavefronts += count(counts[kind], "wavefronts");
      sum.barriers += count(counts, "barriers");
      sum.ffma += count(counts, "ffma");
    }
    result.traffic.push_back(std::move(sum));
  }
}

void read_calibrate(const Json& json, Result& result) {
  for (const Json& one : list(json, "results")) {
    Spread spread = {text(one, "source"), text(one, "backend"), text(one, "fill"),
                     text(one, "why_not")};
    for (const Json& at : list(one, "gulps"))
      spread.points.push_back(
          {figure(at, "k"), figure(at, "median"), figure(at, "worst"), figure(at, "allowed")});
    result.spreads.push_back(std::move(spread));
  }
}

void read_codegen(const Json& json, Result& result) {
  for (const Json& one : list(json, "results")) {
    result.kernels.push_back({text(one, "name"), text(one, "file"), text(one, "code"),
                              count(one, "architecture"), count(one, "registers"),
                              count(one, "stack_bytes"), count(one, "shared_bytes"),
                              count(one, "barriers")});
  }
}

void read_defects(const Json& json, Result& result) {
  for (const Json& one : list(json, "results")) {
    Defect defect = {text(one, "name"), text(one, "backend"), text(one, "must_be_killed_by")};
    for (const Json& claim : list(one, "claims")) {
      if (!flag(claim, "killed")) continue;
      defect.killed_by.push_back(text(claim, "claim"));
      if (defect.killed_by.back() != defect.must_be_killed_by) continue;
      defect.shrunk = text(claim, "shrunk");
      defect.says = text(claim, "says");
    }
    result.defects.push_back(std::move(defect));
  }
}

// What an older or a newer assay wrote is refused before its fields are looked at.
void refuse_unknown_form(const Json& json, const Field& field) {
  if (!field.has("schema") || !field.has("command") || !json["command"].is_string())
    field.refuse("is no result of an assay command: those are written with --json");
  const std::string command = field["command"].text();
  const std::int64_t schema = field["schema"].whole(0, 1'000'000'000);
  const bool is_old = schema == 1 && command != "check" && command != "bench" &&
                      command != "gate time" && command != "counts";
  if (schema < 1 || schema > 2)
    field.refuse(fmt::format(
        "is of schema {}, and this assay reads schemas 1 and 2: read it with a newer one", schema));
  if (is_old)
    field.refuse(fmt::format(
        "is of schema 1, of which `assay {}` can no longer be read: run it again", command));
}

}  // namespace

std::string Source::code() const {
  if (commit.empty()) return "an unknown commit";
  return fmt::format("commit {}{}", commit.substr(0, 12),
                     commit.ends_with("-dirty") ? " and changes" : "");
}

bool Source::judges() const {
  return command == "check" || command == "gate time" || command == "bench" ||
         command == "calibrate" || command == "defects";
}

Result read_result(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(in), {}};
  if (!in) throw BadInput(fmt::format("{}: cannot be read", file));
  return result_in(content, file);
}

Result result_in(const std::string& text, const std::string& file) {
  const Json json = parse_json(text, file);
  const Field field(json, file + ":");
  refuse_unknown_form(json, field);
  static const Json schema = parse_json(embedded::result_schema, "docs/result.schema.json");
  check_schema(schema, field, UnknownFields::ignored);
  Result result = {.source = source_of(json, file)};
  const std::string& command = result.source.command;
  if (command == "check") read_check(json, result);
  if (command == "gate time") read_gate(json, result);
  if (command == "bench") read_bench(json, result);
  if (command == "counts") read_counts(json, result);
  if (command == "calibrate") read_calibrate(json, result);
  if (command == "codegen") read_codegen(json, result);
  if (command == "defects") read_defects(json, result);
  return result;
}

}  // namespace assay::report
