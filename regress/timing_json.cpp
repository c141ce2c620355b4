#include "regress/timing_json.h"

#include <nlohmann/json.hpp>

#include "regress/store/recipe_json.h"

namespace assay {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const std::vector<Round>& rounds) {
  Json all = Json::array();
  for (const Round& round : rounds) {
    Json samples = Json::array();
    for (const Sample& s : round) samples.push_back({s.time_us, s.clock_mhz, s.throttled});
    all.push_back(std::move(samples));
  }
  return all;
}

std::vector<Round> rounds_of(const Json& json) {
  std::vector<Round> rounds;
  for (const Json& samples : json) {
    Round round;
    for (std::size_t i = 0; i < round.size(); ++i) {
      const Json& s = samples.at(i);
      round[i] = {s.at(0).get<double>(), s.at(1).get<double>(), s.at(2).get<std::uint64_t>()};
    }
    rounds.push_back(round);
  }
  return rounds;
}

Json json_of(const CellTiming& t) {
  return {{"variant", t.cell.variant},
          {"problem", to_string(t.cell.problem)},
          {"fault", t.fault},
          {"wrong", t.wrong},
          {"recipe", json_of(t.recipe)},
          {"cubin", t.cubin},
          {"no_recipe", t.no_recipe},
          {"unchanged", t.unchanged},
          {"cause", t.cause},
          {"launches", t.launches},
          {"cold", t.cold},
          {"rounds", json_of(t.rounds)}};
}

Cell cell_of(const Json& json) {
  return {json.at("variant").get<std::string>(),
          parse_case(json.at("problem").get_ref<const std::string&>())};
}

CellTiming cell_timing_of(const Json& json) {
  CellTiming t;
  t.cell = cell_of(json);
  json.at("fault").get_to(t.fault);
  json.at("wrong").get_to(t.wrong);
  t.recipe = recipe_of(json.at("recipe"), "an answer of a timing process");
  json.at("cubin").get_to(t.cubin);
  json.at("no_recipe").get_to(t.no_recipe);
  json.at("unchanged").get_to(t.unchanged);
  json.at("cause").get_to(t.cause);
  json.at("launches").get_to(t.launches);
  json.at("cold").get_to(t.cold);
  t.rounds = rounds_of(json.at("rounds"));
  return t;
}

}  // namespace

std::string to_text(const TimingJob& job) {
  Json cells = Json::array();
  for (const CellJob& one : job.cells) {
    cells.push_back({{"variant", one.cell.variant},
                     {"problem", to_string(one.cell.problem)},
                     {"rival", one.rival},
                     {"launches", one.launches},
                     {"planted_launches", one.planted_launches}});
  }
  return Json{{"cells", cells},       {"baselines", job.baselines}, {"seed", job.seed},
              {"rounds", job.rounds}, {"warm", job.warm},           {"control", job.control}}
      .dump();
}

TimingJob job_of(const std::string& text) {
  const Json json = Json::parse(text);
  TimingJob job;
  for (const Json& one : json.at("cells")) {
    job.cells.push_back(
        {cell_of(one), one.at("rival"), one.at("launches"), one.at("planted_launches")});
  }
  json.at("baselines").get_to(job.baselines);
  json.at("seed").get_to(job.seed);
  json.at("rounds").get_to(job.rounds);
  json.at("warm").get_to(job.warm);
  json.at("control").get_to(job.control);
  return job;
}

std::string to_text(const ProcessTiming& timing) {
  Json cells = Json::array();
  for (const CellTiming& cell : timing.cells) cells.push_back(json_of(cell));
  return Json{{"device", timing.device},
              {"canaries", timing.canaries},
              {"unfit", timing.unfit},
              {"seconds", timing.seconds},
              {"cells", cells}}
      .dump();
}

ProcessTiming timing_of(const std::string& text) {
  const Json json = Json::parse(text);
  ProcessTiming timing;
  json.at("device").get_to(timing.device);
  json.at("canaries").get_to(timing.canaries);
  json.at("unfit").get_to(timing.unfit);
  json.at("seconds").get_to(timing.seconds);
  for (const Json& cell : json.at("cells")) timing.cells.push_back(cell_timing_of(cell));
  return timing;
}

}  // namespace assay
