// Prints what each variant leaves in C, as a hash for each case, so that two backends can be
// compared to the bit, on two computers if need be:
//   result_bits BACKEND CASES SEED [VARIANT...]
// A line for each: variant, case, status, hash. The cases are the same for every backend: those
// that are drawn for the PTX machine. Any NaN is as good as another.
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "base/errors.h"
#include "base/scramble.h"
#include "properties/claims.h"
#include "properties/generators.h"

namespace {

using namespace assay;

std::uint64_t hash_of(const Output& output) {
  std::uint64_t hash = 0;
  for (const float element : output) {
    const auto bits = std::isnan(element) ? 0x7fc00000u : std::bit_cast<std::uint32_t>(element);
    hash = scramble(hash ^ bits);
  }
  return hash;
}

Backend backend_named(std::string_view name) {
  for (const Backend backend : {Backend::simt, Backend::ptx, Backend::cuda}) {
    if (to_string(backend) == name) return backend;
  }
  throw BadInput(fmt::format("there is no backend '{}': simt, ptx or cuda", name));
}

void print_bits(const Entry& drawn_for, Backend backend, int cases, std::uint64_t seed) {
  const Claim& claim = claim_named("within_bound");
  const Entry entry = entry_named(drawn_for.variant.name, backend);
  const auto draw = case_generator(claim, drawn_for, seed);
  for (int i = 0; i < cases; ++i) {
    const Case c = draw();
    Output output;
    const Verdict verdict = run_trial(entry, c, {}, {}, &output);
    fmt::print("{}\t{}\t{}\t{:016x}\n", entry.variant.name, to_string(c), to_string(verdict.status),
               hash_of(output));
  }
}

bool is_named(const Entry& entry, int count, char** names) {
  for (int i = 0; i < count; ++i) {
    if (std::string_view(names[i]) == entry.variant.name) return true;
  }
  return count == 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fputs("result_bits BACKEND CASES SEED [VARIANT...]\n", stderr);
    return 2;
  }
  try {
    const Backend backend = backend_named(argv[1]);
    for (const Entry& entry : registered()) {
      if (entry.backend == Backend::ptx && is_named(entry, argc - 4, argv + 4))
        print_bits(entry, backend, std::atoi(argv[2]), std::strtoull(argv[3], nullptr, 10));
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "result_bits: {}\n", error.what());
    return 2;
  }
}
