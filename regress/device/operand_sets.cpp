#include "regress/device/operand_sets.h"

#include "oracle/operands.h"
#include "regress/device/probes.h"

namespace assay {
namespace {

constexpr std::int64_t line = 64;  // floats: every matrix begins at a multiple of 256 bytes

std::int64_t room(std::int64_t rows, std::int64_t ld, int offset) {
  return (rows * ld + offset + line - 1) / line * line;
}

std::int64_t most(const std::vector<Case>& problems, std::int64_t l2_bytes, bool warm,
                  std::int64_t (*floats)(const Layout&)) {
  std::int64_t result = 1;
  for (const Case& c : problems) {
    const Layout layout(c);
    result = std::max(result, sets_for(layout, l2_bytes, warm) * floats(layout));
  }
  return result;
}

}  // namespace

Layout::Layout(const Case& problem)
    : c(problem),
      a_floats(room(c.m, c.k + c.lda.floats, c.offset.floats[0])),
      b_floats(room(c.k, c.n + c.ldb.floats, c.offset.floats[1])),
      c_floats(room(c.m, c.n + c.ldc.floats, c.offset.floats[2])) {}

std::int64_t sets_for(const Layout& layout, std::int64_t l2_bytes, bool warm) {
  if (warm) return 1;
  const std::int64_t bytes =
      (layout.inputs() + layout.c_floats) * static_cast<std::int64_t>(sizeof(float));
  return std::max<std::int64_t>(2, 2 * l2_bytes / bytes + 1);
}

OperandSets::OperandSets(const std::vector<Case>& problems, std::int64_t l2_bytes, bool warm,
                         std::uint64_t seed, cudaStream_t stream)
    : l2_bytes_(l2_bytes),
      warm_(warm),
      inputs_(most(problems, l2_bytes, warm, [](const Layout& l) { return l.inputs(); })),
      results_(most(problems, l2_bytes, warm, [](const Layout& l) { return l.c_floats; })) {
  for (const DeviceArray<float>* array : {&inputs_, &results_}) {
    enqueue_fill(array->get(), static_cast<std::int64_t>(array->bytes() / sizeof(float)), seed++,
                 stream);
  }
  cuda_check(cudaStreamSynchronize(stream), "filling the operands");
}

void OperandSets::arrange(const Case& c) {
  layout_ = Layout(c);
  count_ = sets_for(layout_, l2_bytes_, warm_);
  next_ = 0;
}

Gemm OperandSets::set(std::int64_t number) const {
  const Case& c = layout_.c;
  const float* const a = inputs_.get() + number * layout_.inputs();
  float* const result = results_.get() + number * layout_.c_floats;
  return gemm_of(c, a + c.offset.floats[0], a + layout_.a_floats + c.offset.floats[1],
                 result + c.offset.floats[2]);
}

}  // namespace assay
