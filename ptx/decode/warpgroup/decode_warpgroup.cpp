// wgmma: products that four warps begin together.
#include <fmt/format.h>

#include <cstdio>

#include "ptx/decode/decoder.h"
#include "ptx/decode/warpgroup/product_registers.h"

namespace ptx {
namespace {

using Kind = Operand::Kind;

constexpr int rows_of_warp = 16;

// As the ISA has them.
bool is_known(int m, int n, int k, Type sum, Type a, Type b) {
  if (m != 64 || n < 8 || n > 256 || n % 8 != 0) return false;
  if (is_byte(a)) return is_byte(b) && sum == Type::s32 && k == 32 && (n <= 24 || n % 16 == 0);
  const bool is_sum_of_any = sum == Type::f16 || sum == Type::f32;
  if (is_eight_bit_float(a)) return is_eight_bit_float(b) && is_sum_of_any && k == 32;
  if (a != b) return false;
  if (a == Type::tf32) return sum == Type::f32 && k == 8;
  if (a == Type::bf16) return sum == Type::f32 && k == 16;
  return a == Type::f16 && is_sum_of_any && k == 16;
}

bool is_minus_one(const Instruction& i, std::size_t operand) {
  return static_cast<std::int32_t>(i.operands[operand].bits) == -1;
}

}  // namespace

void Decoder::decode_warpgroup(const Instruction& i) {
  out_.has_warpgroups = true;
  if (has(i, "fence"))
    emit_named("wgmma.fence");
  else if (has(i, "commit_group"))
    emit_named("wgmma.commit");
  else if (has(i, "wait_group"))
    emit_named("wgmma.wait").bits = i.operands[0].bits;
  else if (is_group_product(i))
    decode_group_product(i);
  else
    refuse(i);
}

// The slot of a descriptor.
int Decoder::descriptor(const Instruction& i, std::size_t operand, Uses& uses) {
  const int at = slot(i.operands[operand], true);
  uses.reads.push_back(at);
  uses.address = at;
  return at;
}

void Decoder::set_registers(const Instruction& i, GroupProduct& o, Type sum, Uses& uses) {
  const auto take = [&](const Operand& list, std::vector<int>& numbers) {
    std::vector<int> slots;
    for (const Operand& r : list.elements) {
      slots.push_back(slot(r, false));
      if (r.kind == Kind::reg)
        numbers.push_back(plan_.product_register[static_cast<std::size_t>(r.index)]);
    }
    uses.reads.insert(uses.reads.end(), slots.begin(), slots.end());
    return slots;
  };
  const Extents extents{rows_of_warp, o.n, o.k};
  const auto count = [](const std::vector<int>& slots) { return static_cast<int>(slots.size()); };
  const auto check = [&](const Fragment& f) {
    if (f.at.size() != static_cast<std::size_t>(f.count()))
      refuse(i,
             fmt::format("{} registers cannot hold {} elements of a warp", f.registers, f.count()));
  };
  const std::vector<int> d = take(i.operands[0], o.d_numbers);
  uses.writes = d;
  o.d = fragment_of_wmma(Role::sum, extents, sum, count(d));
  check(o.d);
  o.d.list = list(d);
  if (i.operands[1].kind != Kind::vector) return;
  const std::vector<int> a = take(i.operands[1], o.a_numbers);
  o.a = fragment_of_mma(Role::a, extents, o.type_a, count(a));
  check(o.a);
  o.a.list = list(a);
}

// wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {...}, a, b, p, scale-a, scale-b, trans-a,
// trans-b; the transpositions of types of 16 bits alone, no scales of integers.
void Decoder::decode_group_product(const Instruction& i) {
  GroupProduct o;
  int m = 0;
  for (const std::string& modifier : i.modifiers)
    if (std::sscanf(modifier.c_str(), "m%dn%dk%d", &m, &o.n, &o.k) == 3) break;
  const Type sum = type_of(i, 0);
  o.type_a = type_of(i, 1), o.type_b = type_of(i, 2);
  if (has(i, "sp") || !is_known(m, o.n, o.k, sum, o.type_a, o.type_b))
    refuse(i, "of matrices whole ones of f16, bf16, tf32, e4m3, e5m2, s8 and u8 are known");
  Uses uses;
  set_registers(i, o, sum, uses);
  if (i.operands[1].kind != Kind::vector) o.a_descriptor = descriptor(i, 1, uses);
  o.b_descriptor = descriptor(i, 2, uses);
  const Operand& scale = i.operands[3];
  if (scale.negated) refuse(i, "it takes a predicate as it is");
  if (scale.kind == Kind::integer)  // as ptxas takes it, too
    o.adds = scale.bits != 0;
  else
    uses.predicates_read.push_back(o.scales_d = predicate_of(scale));
  const std::size_t given = i.operands.size();
  if (sum != Type::s32) {
    o.negates_a = is_minus_one(i, 4), o.negates_b = is_minus_one(i, 5);
    if (bytes_of(o.type_a) == 2) {
      o.a_across_k = o.a_descriptor >= 0 && i.operands[6].bits != 0;
      o.b_across_k = i.operands[given - 1].bits != 0;
    }
  }
  const bool is_16 = bytes_of(o.type_a) == 2;
  const std::size_t wanted = sum == Type::s32 ? 4 : !is_16 ? 6 : o.a_descriptor >= 0 ? 8 : 7;
  if (given != wanted) refuse(i, fmt::format("it takes {} operands", wanted));
  o.saturates = has(i, "satfinite");
  Op& op = emit_named(sum == Type::s32 ? "wgmma.s32" : "wgmma.f32", uses);
  op.flags |= tells_taint;
  op.e = static_cast<int>(out_.products.size());
  out_.products.push_back(std::move(o));
}

// Before each instruction that touches registers of products, what it does to them.
void Decoder::watch_product_registers(const Instruction& i) {
  if (is_group_product(i)) return;
  const auto number = [&](int reg) {
    return plan_.product_register[static_cast<std::size_t>(reg)];
  };
  const Access access = access_of(i);
  std::vector<int> reads, writes;
  for (const int r : access.reads)
    if (number(r) >= 0) reads.push_back(number(r));
  for (const int r : access.writes)
    if (number(r) >= 0) writes.push_back(number(r));
  if (reads.empty() && writes.empty()) return;
  const std::size_t first = out_.code.size();
  if (is_plain_move(i)) {
    Op& move = emit_named("wgmma.move");
    move.d = writes.at(0);
    move.a = reads.empty() ? -1 : reads[0];
  } else {
    std::vector<int> both{static_cast<int>(reads.size())};
    both.insert(both.end(), reads.begin(), reads.end());
    both.push_back(static_cast<int>(writes.size()));
    both.insert(both.end(), writes.begin(), writes.end());
    const int at = list(both);
    emit_named("wgmma.touch").c = at;
  }
  guard_last(i, first);
}

}  // namespace ptx
