// Records the data for replay_test: times real kernels against themselves on this GPU, and plants
// slowdowns of known cost by extra launches in each sample.
//
//   record_replay FILE
#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "regress/decide/statistics.h"
#include "regress/device/timing_process.h"
#include "regress/processes.h"

namespace {

using namespace assay;
using Json = nlohmann::ordered_json;

constexpr int processes = 20;
constexpr int launches = 200;  // one more is half a percent
constexpr double planted_percent[] = {0, 0.5, 1, 1.5, 2, 3, 5};

// From 8 to 43 microseconds, bound by different things.
constexpr const char* cells[] = {
    "tiled_32 m=128 n=128 k=128",         "blocktile_2d_4x4 m=128 n=128 k=128",
    "coarsened_2x2 m=256 n=256 k=256",    "naive m=64 n=256 k=64",
    "tiled_16 m=256 n=256 k=256",         "blocktile_2d_4x4 m=512 n=512 k=512",
    "blocktile_1d_row m=512 n=512 k=512", "tiled_32 m=512 n=512 k=512",
};

TimingJob job() {
  TimingJob job = {.seed = 1};
  for (const char* text : cells) {
    const Cell cell = parse_cell(text);
    for (const double percent : planted_percent) {
      const int planted = static_cast<int>(percent * launches / 100);
      job.cells.push_back({cell, cell.variant, launches, planted});
    }
  }
  return job;
}

int record(const std::string& file) {
  const auto timings =
      time_in_processes(job(), processes, {"--time-worker"},
                        [](const std::string& text, double) { fmt::print(stderr, "{}\n", text); });
  Json recorded = Json::array();
  std::size_t at = 0;
  for (const char* cell : cells) {
    Json planted = Json::object(), control = Json::array();
    std::vector<double> times;
    for (const double percent : planted_percent) {
      Json logs = Json::array();
      for (const ProcessTiming& timing : timings) {
        if (const std::string why = why_unusable(timing, {}); !why.empty()) {
          fmt::print(stderr, "{}\n", why);
          return 4;
        }
        const Replicate replicate = replicate_of(timing.cells.at(at), false);
        if (!replicate.fault.empty()) {
          fmt::print(stderr, "{}: {}\n", cell, replicate.fault);
          return 1;
        }
        logs.push_back(*replicate.to_baseline);
        if (percent != 0) continue;
        control.push_back(*replicate.to_twin);
        times.push_back(replicate.head_us);
      }
      planted[fmt::format("{}", percent)] = std::move(logs);
      ++at;
    }
    recorded.push_back({{"name", cell},
                        {"time_us", median(times)},
                        {"planted", std::move(planted)},
                        {"control", std::move(control)}});
  }
  const auto& device = timings.front().device;
  std::ofstream out(file);
  out << Json{{"schema", 1},     {"gpu", device.at("key")},         {"driver", device.at("driver")},
              {"date", today()}, {"command", "record_replay FILE"}, {"cells", std::move(recorded)}}
             .dump(1)
      << "\n";
  if (!out.flush()) {
    fmt::print(stderr, "{}: cannot be written\n", file);
    return 2;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--time-worker") return serve_timing();
  if (argc != 2) {
    fmt::print(stderr, "usage: record_replay FILE\n");
    return 2;
  }
  return record(argv[1]);
}
