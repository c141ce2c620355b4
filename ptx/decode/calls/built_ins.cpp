// Calls of functions that no module defines: what the machine does itself.
#include <fmt/format.h>

#include "ptx/decode/calls/flatten.h"
#include "ptx/decode/decoder.h"

namespace ptx {

void Decoder::decode_call(const Instruction& i) {
  const auto results = static_cast<std::size_t>(i.results);
  const std::string& name = i.operands[results].text;
  if (name == "__assertfail") {
    const int message = argument(i, 0, true), file = argument(i, 1, true),
              line = argument(i, 2, false);
    Op& op = emit_named("assert");
    op.a = message, op.b = file, op.c = line;
    return;
  }
  if (name == "vprintf") return decode_printf(i);
  out_.facts.uses_heap |= name == "malloc" || name == "free";
  if (name == "malloc") return decode_malloc(i);
  if (name == "free") {
    const int address = argument(i, 0, true);
    emit_named("free", {.reads = {address}}).a = address;
    return;
  }
  if (name == "cudaGraphSetConditional") return decode_condition(i);
  if (name == no_function) {
    emit_named("trap").mode = 1;
    return;
  }
  if (name == too_deep || name == too_much) {
    emit_named("lacks").mode = name == too_deep ? 0 : 1;
    return;
  }
  if (name == stack_holds) {
    const int bytes = slot(i.operands[1], true);
    Op& op = emit_named("stack", {.reads = {bytes}});
    op.a = bytes, op.bits = i.operands[2].bits;
    return;
  }
  refuse(i, fmt::format("{} is not supported", name));
}

// The n-th argument of a call.
int Decoder::argument(const Instruction& i, std::size_t n, bool wide) {
  const int to = temporary(wide);
  Op& op = emit_named(wide ? "ld.local.u64" : "ld.local.u32");
  op.d = to;
  op.a = -1;
  op.bits = placed_.at(i.operands[static_cast<std::size_t>(i.results) + 1 + n].text).at;
  op.flags |= loads;
  return to;
}

void Decoder::decode_printf(const Instruction& i) {
  const int format = argument(i, 0, true), arguments = argument(i, 1, true);
  Op& op = emit_named("print");
  op.a = format, op.b = arguments;
  if (i.results != 0) return_value(i, constant(0, false), false);
}

void Decoder::decode_malloc(const Instruction& i) {
  const int bytes = argument(i, 0, true), given = temporary(true);
  Op& op = emit_named("malloc", {.reads = {bytes}, .writes = {given}});
  op.d = given, op.a = bytes;
  if (i.results != 0) return_value(i, given, true);
}

// A store to the word that the handle stands for.
void Decoder::decode_condition(const Instruction& i) {
  const int handle = argument(i, 0, true), value = argument(i, 1, false);
  Op& op = emit_named("st.global.u32", {.reads = {value}, .address = handle});
  op.a = handle, op.d = value;
  op.bits = ~condition_beyond_address + 1;
  op.flags |= stores | address_is_wide;
  op.parts = 1, op.part_bytes = 4;
}

// What a call gives, from a slot.
void Decoder::return_value(const Instruction& i, int from, bool wide) {
  Op& result = emit_named(wide ? "st.local.u64" : "st.local.u32", {.reads = {from}});
  result.d = from, result.a = -1;
  result.bits = placed_.at(i.operands[0].text).at;
  result.flags |= stores;
}

}  // namespace ptx
