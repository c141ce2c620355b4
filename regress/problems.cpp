#include "regress/problems.h"

#include <algorithm>

#include "oracle/machine.h"

namespace assay {
namespace {

std::vector<Case> parsed(std::initializer_list<const char*> texts) {
  std::vector<Case> cases;
  for (const char* text : texts) cases.push_back(parse_case(text));
  return cases;
}

}  // namespace

std::vector<Case> bench_problems() {
  return parsed({
      "m=128 n=128 k=128",
      "m=256 n=256 k=256",
      "m=512 n=512 k=512",
      "m=1024 n=1024 k=1024",
      "m=2048 n=2048 k=2048",
      "m=4096 n=4096 k=4096",
      "m=8192 n=8192 k=8192",
      "m=1024 n=1024 k=512",
      "m=1024 n=512 k=1024",
      "m=1001 n=777 k=513 lda=+3 ldb=+3",
      "m=1001 n=513 k=777 alpha=1.5 beta=-0.5 lda=+3 ldb=+3 ldc=+1",
      "m=64 n=4096 k=4096",
      "m=4096 n=64 k=4096",
      "m=128 n=128 k=16384",
      "m=4097 n=4095 k=4093 lda=+3 ldb=+1 ldc=+5",
      // Few rows, few columns: memory sets the speed.
      "m=1 n=4096 k=4096",
      "m=8 n=4096 k=4096",
      "m=32 n=4096 k=4096",
      "m=4096 n=1 k=4096",
      "m=4096 n=8 k=4096",
      "m=4096 n=32 k=4096",
      "m=4096 n=32 k=25088",
      "m=4097 n=9 k=4095 lda=+3 ldb=+1 ldc=+5",
  });
}

std::vector<Case> gate_problems() {
  return parsed({
      "m=128 n=128 k=128",
      "m=256 n=256 k=256",
      "m=512 n=512 k=512",
      "m=1024 n=1024 k=1024",
      "m=2048 n=2048 k=2048",
      "m=1024 n=1024 k=512",
      "m=1001 n=513 k=777 alpha=1.5 beta=-0.5 lda=+3 ldb=+3 ldc=+1",
      "m=64 n=4096 k=1024",
      "m=2048 n=64 k=1024",
      "m=128 n=128 k=4096",
      // More operands than the L2 cache holds; and edges in all directions of a large C.
      "m=4096 n=4096 k=4096",
      "m=4097 n=2047 k=1025 lda=+3 ldb=+1 ldc=+5",
      // One row, one column: most of a tile is idle.
      "m=1 n=4096 k=2048",
      "m=4096 n=1 k=2048 ldb=+3",
      // Hardly a sum: storing C is all there is, and with beta reading it.
      "m=2048 n=2048 k=16",
      "m=2048 n=2048 k=64 alpha=2 beta=0.5",
      // Nothing but a sum.
      "m=256 n=256 k=16384",
      // Rows of one operand that are not whole quads apart; and operands that do not begin at one.
      "m=512 n=512 k=512 lda=+1",
      "m=512 n=512 k=512 ldb=+1",
      "m=512 n=512 k=512 ldc=+1",
      "m=512 n=512 k=512 offset=1,2,3",
      "m=512 n=512 k=512 offset=0,0,1",
      // Gaps between rows of whole quads; and a last slice that is not whole.
      "m=512 n=512 k=512 lda=+4 ldb=+8 ldc=+12",
      "m=512 n=512 k=509 lda=+3",
  });
}

std::vector<Variant> variants_to_time(const std::vector<std::string>& names) {
  std::vector<Variant> variants;
  for (const Entry& entry : registered()) {
    const std::string name = entry.variant.name;
    const bool wanted = names.empty() || std::ranges::count(names, name) > 0;
    if (entry.backend == Backend::cuda && wanted) variants.push_back(entry.variant);
  }
  return variants;
}

std::string not_timed(const Variant& variant, const Case& c) {
  alignas(16) static float memory[4];
  const auto at = [&](std::size_t operand) { return memory + c.offset.floats[operand] % 4; };
  const std::string why = unmet(variant.needs);
  return why.empty() ? refusal(variant, gemm_of(c, at(0), at(1), at(2))) : why;
}

double tflops(const Case& problem, double time_us) {
  return 2 * problem.multiply_adds() / time_us * 1e-6;
}

}  // namespace assay
