#include "ptx/machine/bits/rules.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string_view>
#include <utility>

namespace ptx {
namespace {

using Names = std::initializer_list<std::string_view>;

bool begins_with(std::string_view name, Names names) {
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view begin) { return name.starts_with(begin); });
}
bool is_one_of(std::string_view name, Names names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The type of integers that a name ends with; no bits if it ends with another one.
struct Integer {
  int bits = 0;
  char kind = 0;
  std::string_view before;  // the rest of the name, up to its last dot
};
Integer integer_of(std::string_view name) {
  for (const auto& [end, bits] : {std::pair{"16", 16}, {"32", 32}, {"64", 64}}) {
    if (name.size() < 5 || !name.ends_with(end) || name[name.size() - 4] != '.') continue;
    const char kind = name[name.size() - 3];
    if (kind != 'u' && kind != 's' && kind != 'b') continue;
    return {bits, kind, name.substr(0, name.size() - 4)};
  }
  return {};
}

// How many operands of one that moves bits about are data.
int data_of(std::string_view name) {
  if (begins_with(name, {"shl.", "shr.", "bfe.", "shfl"})) return 1;
  if (begins_with(name, {"shf.", "prmt.", "bfi."})) return 2;
  return name.starts_with("lop3.") ? 3 : 255;
}

bool moves_bits(std::string_view name) {
  const bool resizes = begins_with(name, {"cvt.u", "cvt.s"});
  return resizes || begins_with(name, {"and.", "or.", "xor.", "not.", "mov.b", "brev.", "selp.",
                                       "predicate", "shl.", "shr.", "shf.", "prmt.", "bfe.", "bfi.",
                                       "lop3.", "shfl", "vote", "redux.", "movmatrix"});
}

bool is_by_halves(std::string_view name) {
  if (begins_with(name, {"atom", "set", "cvt", "ld", "st"})) return false;
  for (const std::string_view type : {".f16", ".bf16", ".u16x2", ".s16x2"})
    if (name.ends_with(type)) return true;
  return false;
}

BitRule rule_of(std::string_view name) {
  if (moves_bits(name)) return BitRule::by_place;
  if (name.starts_with("match")) return BitRule::likeness;
  if (is_by_halves(name)) return BitRule::by_halves;
  const std::string_view does = integer_of(name).before;
  if (does == "add") return BitRule::sum;
  if (does == "sub") return BitRule::difference;
  if (is_one_of(does, {"neg", "mul.lo", "mad.lo", "mul.wide", "mad.wide"})) return BitRule::upwards;
  if (is_one_of(does, {"setp.eq", "setp.ne"})) return BitRule::equality;
  if (does.starts_with("setp.")) return BitRule::order;
  return BitRule::whole;
}

}  // namespace

Following following_of(const std::string& name) {
  const Integer integer = integer_of(name);
  const bool is_half = name.ends_with("f16");  // or two, as the operation says
  return {.rule = rule_of(name),
          .across = begins_with(name, {"shfl", "vote", "match", "redux.", "movmatrix"}),
          .bits = static_cast<std::uint8_t>(is_half             ? 16
                                            : integer.bits == 0 ? 32
                                                                : integer.bits),
          .is_signed = integer.kind == 's',
          .data = static_cast<std::uint8_t>(data_of(name))};
}

}  // namespace ptx
