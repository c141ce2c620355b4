// What it costs to run a trial in a process of its own: the same small trials there and here, once
// both are warm.
#include <fmt/format.h>

#include <chrono>

#include "properties/worker.h"

namespace {

using namespace assay;

constexpr int trials = 3000;

template <class Judge>
double microseconds_of(const Judge& judge) {
  for (int i = 0; i < trials / 10; ++i) judge();
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < trials; ++i) judge();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start)
             .count() /
         trials;
}

void print_cost(const Entry& entry) {
  const Claim& claim = claim_named("within_bound");
  const Case c = parse_case("m=16 n=16 k=16");
  Worker worker({{"--worker"}}, 0);
  const double there = microseconds_of([&] { worker.judge(entry, claim, c, 1); });
  const double here = microseconds_of([&] { claim.judge(entry, c, 1); });
  fmt::print("{:5} {:10} {:8.1f} us in a worker {:8.1f} us here {:8.1f} us for isolation\n",
             to_string(entry.backend), entry.variant.name, there, here, there - here);
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
