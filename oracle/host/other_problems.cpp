#include "oracle/host/other_problems.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernels/registry.h"

namespace assay {
namespace {

constexpr double usual_products = 0x1p22, most_products = 0x1p26, most_elements = 0x1p22;

double products_of(const Gemm& g) {
  return static_cast<double>(g.m) * static_cast<double>(g.n) * static_cast<double>(g.k);
}

double most_floats(const Gemm& g) {
  const auto spread = [](std::int64_t rows, std::int64_t ld) {
    return static_cast<double>(rows) * static_cast<double>(ld);
  };
  return std::max({spread(g.m, g.lda), spread(g.k, g.ldb), spread(g.m, g.ldc)});
}

}  // namespace

std::optional<LargerProblem> LargerProblem::than(const Variant& variant, const Given& given,
                                                 const ByOperand<Placed>& placed) {
  Given larger = given;
  const double before = std::max(1.0, products_of(given));
  const auto times =
      std::max<std::int64_t>(2, static_cast<std::int64_t>(std::cbrt(usual_products / before)));
  for (std::int64_t* const size :
       {&larger.m, &larger.n, &larger.k, &larger.lda, &larger.ldb, &larger.ldc})
    *size *= times;
  const bool is_too_large =
      products_of(larger) > most_products || most_floats(larger) > most_elements;
  if (is_too_large || !refusal(variant, larger).empty()) return std::nullopt;
  LargerProblem problem(larger, placed);
  const std::int64_t bytes = workspace_of(variant, larger);
  if (bytes > static_cast<std::int64_t>(most_elements)) return std::nullopt;
  problem.place(Operand::workspace, bytes > 0 ? 1 : 0, ceil_div(bytes, 4), ceil_div(bytes, 4));
  return problem;
}

LargerProblem::LargerProblem(const Given& given, const ByOperand<Placed>& placed)
    : given_(given), placed_(placed) {
  place(Operand::a, given_.m, given_.k, given_.lda);
  place(Operand::b, given_.k, given_.n, given_.ldb);
  place(Operand::c, given_.m, given_.n, given_.ldc);
}

// Aligned as the operand of the other problem is.
void LargerProblem::place(Operand o, std::int64_t rows, std::int64_t columns, std::int64_t ld) {
  constexpr std::size_t page = 4096, page_floats = page / sizeof(float);
  const auto i = static_cast<std::size_t>(o);
  memory_[i].assign(static_cast<std::size_t>(rows * ld) + 2 * page_floats, 0.5f);
  const auto begin = reinterpret_cast<std::uintptr_t>(memory_[i].data());
  const auto wanted = reinterpret_cast<std::uintptr_t>(placed_[i].first) % page;
  float* const first = memory_[i].data() + (page - begin % page + wanted) / sizeof(float);
  placed_[i] = {reinterpret_cast<const std::byte*>(first), rows, columns, ld};
  if (o == Operand::a) given_.a = first;
  if (o == Operand::b) given_.b = first;
  if (o == Operand::c) given_.c = first;
  if (o == Operand::workspace) given_.workspace = rows > 0 ? first : nullptr;
}

std::optional<Given> half_of(const Variant& variant, const Given& given) {
  Given half = given;
  for (std::int64_t* const size : {&half.m, &half.n, &half.k}) *size = (*size + 1) / 2;
  if (given.lda == given.k) half.lda = half.k;
  if (given.ldb == given.n) half.ldb = half.n;
  if (given.ldc == given.n) half.ldc = half.n;
  const bool has_room = workspace_of(variant, half) <= workspace_of(variant, given);
  return has_room && refusal(variant, half).empty() ? std::optional(half) : std::nullopt;
}

}  // namespace assay
