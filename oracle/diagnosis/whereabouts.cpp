#include "oracle/diagnosis/whereabouts.h"

#include <fmt/format.h>

#include "base/text.h"

namespace assay {
namespace {

constexpr std::int64_t bytes_of_a_float = sizeof(float);

std::int64_t span(const Placed& p) {
  return p.rows == 0 || p.columns == 0 ? 0 : (p.rows - 1) * p.ld + p.columns;
}

// The element that was meant, where an index lost the bits beyond 32; empty if it did not.
std::string overflow(std::int64_t index, Operand o, const Placed& p) {
  const std::int64_t meant = index + (std::int64_t{1} << 32);
  if (meant < 0 || meant >= span(p) || meant % p.ld >= p.columns) return "";
  return fmt::format("an index of {} overflowed 32 bits: row {}, column {} was meant", to_string(o),
                     meant / p.ld, meant % p.ld);
}

}  // namespace

Diagnosis whereabouts(const void* address, const ByOperand<Placed>& placed, const Fences& fences) {
  const auto from = [&](const Placed& p) {
    return static_cast<const std::byte*>(address) - p.first;
  };
  for (Operand o : operands_and_workspace) {
    const Placed& p = placed[static_cast<std::size_t>(o)];
    if (p.unreadable && from(p) >= 0 && from(p) < fences.forbidden) {
      return {{Fault::bad_address, o},
              fmt::format("{}, which this problem must not touch", to_string(o))};
    }
    if (p.unreadable || p.first == nullptr || from(p) % bytes_of_a_float != 0) continue;
    if (std::string words = overflow(from(p) / bytes_of_a_float, o, p); !words.empty())
      return {{Fault::index_overflow, o}, std::move(words)};
  }
  for (Operand o : operands_and_workspace) {
    const Placed& p = placed[static_cast<std::size_t>(o)];
    const std::ptrdiff_t end = span(p) * bytes_of_a_float;
    if (p.unreadable || p.first == nullptr) continue;
    if (from(p) >= 0 && from(p) < end) {
      const std::int64_t index = from(p) / bytes_of_a_float;
      return {{Fault::bad_address, o},
              fmt::format("between the rows of {}, at row {}, column {}, but {} = {}", to_string(o),
                          index / p.ld, index % p.ld, o == Operand::a ? "k" : "n", p.columns)};
    }
    if (from(p) >= end && from(p) - end < fences.fence) {
      return {{Fault::bad_address, o},
              fmt::format("the {} float past the last element of {}",
                          ordinal((from(p) - end) / bytes_of_a_float + 1), to_string(o))};
    }
    if (from(p) < 0 && -from(p) <= fences.fence) {
      return {
          {Fault::bad_address, o},
          fmt::format("the {} float before the first element of {}",
                      ordinal((-from(p) + bytes_of_a_float - 1) / bytes_of_a_float), to_string(o))};
    }
  }
  return {{Fault::bad_address}, "far from A, B and C"};
}

}  // namespace assay
