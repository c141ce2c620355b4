#include "oracle/emulation.h"

#include <bit>
#include <cmath>
#include <cstdint>

namespace assay {
namespace {

// How an arithmetic takes a factor apart, and which products of parts it leaves out.
struct Split {
  int bits, parts;  // of each part; the parts of a factor
  int most_index;   // the largest sum of two parts' numbers, 0 being the largest part
};

Split split_of(Emulation emulation) {
  switch (emulation) {
    case Emulation::tf32: return {11, 1, 0};
    case Emulation::tf32x3: return {11, 2, 1};
    case Emulation::bf16x3: return {8, 2, 1};
    case Emulation::bf16x9: return {8, 3, 4};
  }
  return {};
}

// To nearest, ties to even.
float rounded(float x, int bits) {
  const int dropped = 24 - bits;
  auto word = std::bit_cast<std::uint32_t>(x);
  word += (1u << (dropped - 1)) - 1 + (word >> dropped & 1);
  return std::bit_cast<float>(word & ~0u << dropped);
}

float part_of(float x, const Split& split, int number) {
  float part = rounded(x, split.bits);
  for (int i = 0; i < number; ++i) x -= part, part = rounded(x, split.bits);
  return part;
}

std::vector<float> parts_of(const Image& image, const Split& split, int number) {
  std::vector<float> parts;
  for (std::int64_t i = 0; i < image.rows; ++i) {
    for (std::int64_t j = 0; j < image.columns; ++j)
      parts.push_back(part_of(image.row(i)[j], split, number));
  }
  return parts;
}

// sums += a * b, of packed matrices, in one chain for each element.
void add_products(const Case& c, const std::vector<float>& a, const std::vector<float>& b,
                  std::vector<float>& sums) {
  std::vector<float> chain(static_cast<std::size_t>(c.n));
  for (std::int64_t i = 0; i < c.m; ++i) {
    std::fill(chain.begin(), chain.end(), 0.0f);
    for (std::int64_t p = 0; p < c.k; ++p) {
      const float factor = a[static_cast<std::size_t>(i * c.k + p)];
      const float* row = b.data() + p * c.n;
      for (std::size_t j = 0; j < chain.size(); ++j) chain[j] = std::fmaf(factor, row[j], chain[j]);
    }
    for (std::size_t j = 0; j < chain.size(); ++j)
      sums[static_cast<std::size_t>(i * c.n) + j] += chain[j];
  }
}

}  // namespace

std::string_view to_string(Emulation emulation) {
  switch (emulation) {
    case Emulation::tf32: return "TF32";
    case Emulation::tf32x3: return "TF32x3";
    case Emulation::bf16x3: return "BF16x3";
    case Emulation::bf16x9: return "BF16x9";
  }
  return "?";
}

std::vector<float> emulate(Emulation emulation, const Case& c, const Operands& operands) {
  const Split split = split_of(emulation);
  std::vector<float> result(static_cast<std::size_t>(c.m * c.n));
  const Gemm scalars = gemm_of(c, nullptr, nullptr, nullptr);
  for (int sum = c.alpha == 0 ? -1 : split.most_index; sum >= 0; --sum) {  // small products first
    for (int i = 0; i < split.parts; ++i) {
      if (sum - i < 0 || sum - i >= split.parts) continue;
      add_products(c, parts_of(operands[Operand::a], split, i),
                   parts_of(operands[Operand::b], split, sum - i), result);
    }
  }
  for (std::int64_t i = 0; i < c.m; ++i) {
    for (std::int64_t j = 0; j < c.n; ++j) {
      float& element = result[static_cast<std::size_t>(i * c.n + j)];
      element = blend(scalars, element, operands[Operand::c].row(i) + j);
    }
  }
  return result;
}

}  // namespace assay
