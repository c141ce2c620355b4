// What it costs to run a trial in a process of its own: the same small trials there and here, once
// both are warm, and what a new process takes to its first verdict, alone and with others.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include "oracle/gpus.h"
#include "oracle/machine.h"
#include "properties/worker.h"

namespace {

using namespace assay;

constexpr int trials = 3000;

template <class Work>
double seconds_of(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

template <class Judge>
double microseconds_of(const Judge& judge) {
  const auto repeat = [&](int times) {
    for (int i = 0; i < times; ++i) judge();
  };
  repeat(trials / 10);
  return 1e6 * seconds_of([&] { repeat(trials); }) / trials;
}

// Spreads processes over the GPUs.
int gpu_of(const Entry& entry, std::size_t number) {
  return entry.backend == Backend::cuda ? static_cast<int>(number) % std::max(1, gpu_count()) : 0;
}

// Until each of `count` new processes, started at the same time, has judged its first case.
double seconds_of_new_processes(std::size_t count, const Entry& entry, const Claim& claim,
                                const Case& c) {
  static std::size_t number = 1;  // none of another's is waiting under it
  return seconds_of([&] {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < count; ++i) {
      threads.emplace_back([&, mine = number++] {
        Worker({{"--worker"}}, mine).judge(entry, claim, c, {.gpu = gpu_of(entry, mine)});
      });
    }
  });
}

void print_cost(const Entry& entry) {
  const Claim& claim = claim_named("within_bound");
  const Case c = parse_case("m=16 n=16 k=16");
  Worker worker({{"--worker"}}, 0);
  const double there = microseconds_of([&] { worker.judge(entry, claim, c); });
  const double here = microseconds_of([&] { claim.judge(entry, c, {}); });
  const double alone = seconds_of_new_processes(1, entry, claim, c);
  const double together = seconds_of_new_processes(16, entry, claim, c);
  fmt::print("{:5} {:10} {:8.1f} us in a worker {:8.1f} us here {:8.1f} us for isolation;",
             to_string(entry.backend), entry.variant.name, there, here, there - here);
  fmt::print(" a new worker {:.0f} ms, 16 at a time {:.0f} ms\n", 1e3 * alone, 1e3 * together);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--worker") return serve_worker();
  for (const char* name : {"cpu_loop", "naive"}) {
    for (const Entry& entry : registered()) {
      if (entry.variant.name == std::string_view(name) && unavailable(entry.backend).empty())
        print_cost(entry);
    }
  }
}
