// Prints how fast each variant, or those named, run on a CPU, by the executor and by the PTX
// machine: multiply-adds a second on one core, at m = n = k = 256, and launches a second at 32.
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/registry.h"
#include "oracle/machine.h"

namespace {

using namespace assay;

double cpu_seconds() {
  timespec now = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// What one launch takes: `launches` in a row are timed several times, and the fastest counts, which
// was disturbed the least.
double seconds_of(const Entry& entry, const Case& c, int launches) {
  const Operands images = make_operands(c, Placement::guarded, {16, 16, 16});
  Machine& machine = machine_of(entry.backend, {});
  const auto place = [&](Operand o) { return machine.place(o, images[o], Placement::guarded); };
  const float *const a = place(Operand::a), *const b = place(Operand::b);
  Given gemm{gemm_of(c, a, b, place(Operand::c))};
  if (const std::string why = refusal(entry.variant, gemm); !why.empty())
    throw std::invalid_argument(why);
  Image workspace;
  if (const auto failure = place_workspace(machine, entry.variant, c, {}, gemm, workspace))
    throw std::runtime_error(failure->reason);
  double best = 1e30;
  for (int run = 0; run < 5; ++run) {
    const double start = cpu_seconds();
    for (int n = 0; n < launches; ++n) {
      const LaunchFailure failure =
          machine.launch(entry.variant, gemm, c, {.order = ThreadOrder::forward}, {});
      if (failure) throw std::runtime_error(failure->reason);
    }
    best = std::min(best, (cpu_seconds() - start) / launches);
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<Entry> entries;
  for (const Entry& entry : registered()) {
    const bool is_named =
        argc == 1 ||
        std::find(argv + 1, argv + argc, std::string_view(entry.variant.name)) != argv + argc;
    if (is_named && entry.backend != Backend::cuda) entries.push_back(entry);
  }
  if (entries.empty()) {
    fmt::print(stderr, "cpu_speed: there is no such variant\n");
    return 2;
  }
  const Case c{.m = 256, .n = 256, .k = 256}, small{.m = 32, .n = 32, .k = 32};
  fmt::print("{:<18} {:<5} {:>8} {:>24} {:>18}\n", "variant", "on", "ms", "M multiply-adds/s/core",
             "launches/s at 32");
  for (const Entry& entry : entries) {
    fmt::print("{:<18} {:<5} ", entry.variant.name, to_string(entry.backend));
    try {
      const double seconds = seconds_of(entry, c, 1);
      fmt::print("{:>8.2f} {:>24.0f} {:>18.0f}\n", seconds * 1e3, c.multiply_adds() / seconds / 1e6,
                 1 / seconds_of(entry, small, 20));
    } catch (const std::invalid_argument& refused) {
      fmt::print("refuses it: {}\n", refused.what());
    }
  }
}
