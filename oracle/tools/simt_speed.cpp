// Prints how fast the CPU executor runs each variant, or those named: multiply-adds a second on one
// core, at m = n = k = 256.
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <stdexcept>
#include <string>
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

// The best of several runs: the others were disturbed.
double seconds_of(const Entry& entry, const Case& c) {
  const Operands images = make_operands(c, Placement::guarded, {16, 16, 16});
  Machine& machine = machine_of(entry.backend, {});
  const auto place = [&](Operand o) { return machine.place(o, images[o], Placement::guarded); };
  const float *const a = place(Operand::a), *const b = place(Operand::b);
  const Gemm gemm = gemm_of(c, a, b, place(Operand::c));
  double best = 1e30;
  for (int run = 0; run < 5; ++run) {
    const double start = cpu_seconds();
    const LaunchFailure failure =
        machine.launch(entry.variant, gemm, c, {.order = ThreadOrder::forward}, {});
    best = std::min(best, cpu_seconds() - start);
    if (failure) throw std::runtime_error(failure->reason);
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<Entry> entries;
  try {
    for (int i = 1; i < argc; ++i) entries.push_back(entry_named(argv[i], Backend::simt));
  } catch (const std::out_of_range& error) {
    fmt::print(stderr, "simt_speed: {}\n", error.what());
    return 2;
  }
  if (entries.empty()) entries = registered();
  const Case c{.m = 256, .n = 256, .k = 256};
  fmt::print("{:<18} {:>8} {:>24}\n", "variant", "ms", "M multiply-adds/s/core");
  for (const Entry& entry : entries) {
    if (entry.backend == Backend::cuda) continue;
    const double seconds = seconds_of(entry, c);
    fmt::print("{:<18} {:>8.2f} {:>24.0f}\n", entry.variant.name, seconds * 1e3,
               c.multiply_adds() / seconds / 1e6);
  }
}
