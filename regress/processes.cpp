#include "regress/processes.h"

#include <fmt/format.h>

#include <chrono>
#include <concepts>
#include <mutex>
#include <set>
#include <thread>

#include "base/child_process.h"
#include "base/strict_json.h"
#include "oracle/gpus.h"
#include "regress/store/recipe_json.h"

namespace assay {

template <class T, class Kind>
concept Any = std::same_as<std::remove_const_t<T>, Kind>;

// The members of each type by name, once for writing and for reading.
void each_member(Any<CellJob> auto& job, const auto& visit) {
  visit("variant", job.cell.variant);
  visit("problem", job.cell.problem);
  visit("host", job.cell.host);
  visit("rival", job.rival);
  visit("launches", job.launches);
  visit("planted_launches", job.planted_launches);
}

void each_member(Any<TimingJob> auto& job, const auto& visit) {
  visit("cells", job.cells);
  visit("baselines", job.baselines);
  visit("seed", job.seed);
  visit("rounds", job.rounds);
  visit("warm", job.warm);
  visit("control", job.control);
}

void each_member(Any<CellTiming> auto& timing, const auto& visit) {
  visit("variant", timing.cell.variant);
  visit("problem", timing.cell.problem);
  visit("host", timing.cell.host);
  visit("fault", timing.fault);
  visit("wrong", timing.wrong);
  visit("recipe", timing.recipe);
  visit("cubin", timing.cubin);
  visit("no_recipe", timing.no_recipe);
  visit("unchanged", timing.unchanged);
  visit("cause", timing.cause);
  visit("launches", timing.launches);
  visit("first_us", timing.first_us);
  visit("cold", timing.cold);
  visit("rounds", timing.rounds);
}

void each_member(Any<ProcessTiming> auto& timing, const auto& visit) {
  visit("device", timing.device);
  visit("canaries", timing.canaries);
  visit("unfit", timing.unfit);
  visit("seconds", timing.seconds);
  visit("cells", timing.cells);
}

template <class T>
concept HasMembers = requires(T& t) {
  each_member(t, [](const char*, const auto&) {});
};

// The library finds these by the type of what it writes or reads.
static void to_json(Json& json, const Case& problem) { json = to_string(problem); }
static void from_json(const Json& json, Case& problem) {
  problem = parse_case(json.get_ref<const std::string&>());
}

static void to_json(Json& json, const Recipe& recipe) { json = json_of(recipe); }
static void from_json(const Json& json, Recipe& recipe) {
  recipe = recipe_of(json, "an answer of a timing process");
}

static void to_json(Json& json, const Sample& s) { json = {s.time_us, s.clock_mhz, s.throttled}; }
static void from_json(const Json& json, Sample& s) {
  json.at(0).get_to(s.time_us);
  json.at(1).get_to(s.clock_mhz);
  json.at(2).get_to(s.throttled);
}

template <HasMembers T>
void to_json(Json& json, const T& t) {
  each_member(t, [&](const char* name, const auto& value) { json[name] = value; });
}
template <HasMembers T>
void from_json(const Json& json, T& t) {
  each_member(t, [&](const char* name, auto& value) { json.at(name).get_to(value); });
}

namespace {

// Longer than any single batch takes: a process that stays silent longer is stuck.
constexpr auto patience = std::chrono::minutes(5);

// Runs a copy of this program to its end: the job on its stdin, what was timed on its stdout.
std::string run_process(const std::string& job, const std::vector<std::string>& arguments,
                        int gpu) {
  ChildProcess process(this_program, arguments, Channel::stdio,
                       {{"CUDA_VISIBLE_DEVICES", visible_name_of(gpu)}});
  std::string output = process.converse(job, patience);
  if (const ProcessEnd end = process.end(); !end.is_success())
    throw std::runtime_error("it " + end.text());
  return output;
}

ProcessTiming time_in_process(const TimingJob& job, const std::vector<std::string>& arguments,
                              int gpu) {
  ProcessTiming timing;
  try {
    timing = timing_of(run_process(to_text(job), arguments, gpu));
  } catch (const std::exception& error) {
    timing = {};
    timing.unfit = fmt::format("a timing process gave no answer: {}", error.what());
  }
  return timing;
}

// All processes time the same number of launches: the first has chosen it.
void settle_launches(TimingJob& job, const ProcessTiming& first) {
  for (std::size_t i = 0; i < std::min(job.cells.size(), first.cells.size()); ++i)
    job.cells[i].launches = first.cells[i].launches;
}

// Whether a GPU is fit to time beside the first one: of the same model, with its baselines.
bool is_like(const ProcessTiming& timing, const ProcessTiming& first) {
  return timing.unfit.empty() && timing.device.at("key") == first.device.at("key");
}

}  // namespace

std::string to_text(const TimingJob& job) { return Json(job).dump(); }
std::string to_text(const ProcessTiming& timing) { return Json(timing).dump(); }

TimingJob job_of(const std::string& text) { return Json::parse(text).get<TimingJob>(); }
ProcessTiming timing_of(const std::string& text) { return Json::parse(text).get<ProcessTiming>(); }

std::vector<ProcessTiming> time_in_processes(const TimingJob& given, int processes,
                                             const std::vector<std::string>& arguments,
                                             const TimingProgress& progress, int gpus) {
  TimingJob job = given;
  std::vector<ProcessTiming> timings(static_cast<std::size_t>(processes));
  std::set<int> waiting;
  for (int i = 0; i < processes; ++i) waiting.insert(i);
  int done = 0;
  std::mutex mutex;
  const auto take = [&] {
    const std::lock_guard lock(mutex);
    return waiting.empty() ? processes : waiting.extract(waiting.begin()).value();
  };
  const auto run = [&](int gpu) {
    for (int i; (i = take()) < processes;) {
      TimingJob mine = job;
      mine.seed = given.seed + static_cast<std::uint64_t>(i) + 1;
      ProcessTiming timing = time_in_process(mine, arguments, gpu);
      const std::lock_guard lock(mutex);
      if (gpu > 0 && !is_like(timing, timings[0])) {  // the first one times it
        waiting.insert(i);
        return;
      }
      timings[static_cast<std::size_t>(i)] = std::move(timing);
      ++done;
      if (progress) {
        progress(fmt::format("{} of {} processes", done, processes),
                 static_cast<double>(done) / processes);
      }
      if (i == 0) return;
    }
  };
  run(0);
  settle_launches(job, timings[0]);
  const bool hopeless = !timings[0].unfit.empty();
  if (hopeless) return {timings[0]};
  std::vector<std::jthread> threads;
  for (int gpu = 1; gpu < gpus; ++gpu) threads.emplace_back(run, gpu);
  run(0);
  threads.clear();
  run(0);  // what others have given back
  return timings;
}

TimeInProcesses processes_started_with(const std::vector<std::string>& arguments) {
  return [arguments](const TimingJob& job, int processes, const TimingProgress& progress) {
    return time_in_processes(job, processes, arguments, progress, gpu_count());
  };
}

}  // namespace assay
