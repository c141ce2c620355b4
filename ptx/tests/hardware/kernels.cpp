#include "ptx/tests/hardware/kernels.h"

#include <fmt/format.h>

#include "base/scramble.h"
#include "ptx/tests/hardware/values.h"

namespace ptx::hardware {
namespace {

struct Class {
  const char *type, *name;
};
Class class_of(char kind) {
  switch (kind) {
    case 'p': return {"pred", "%p"};
    case 'f': return {"f32", "%f"};
    case 'd': return {"f64", "%d"};
    case 'y': return {"b64", "%y"};
    case 'h':
    case 'b':
    case 'q':
    case 'w': return {"b16", "%h"};
    default: return {"b32", "%r"};
  }
}
std::string register_of(char kind, int number) {
  return class_of(kind).name + std::to_string(number);
}

// From and to a word of 64 bits.
std::string unpacked(char kind, const std::string& to, const std::string& word) {
  switch (bits_of_kind(kind)) {
    case 1: return fmt::format("and.b64 %t, {1}, 1; setp.ne.u64 {0}, %t, 0;", to, word);
    case 64: return fmt::format("mov.b64 {}, {};", to, word);
    case 32: return fmt::format("cvt.u32.u64 %u, {1}; mov.b32 {0}, %u;", to, word);
    default: return fmt::format("cvt.u16.u64 {}, {};", to, word);
  }
}
std::string packed(char kind, const std::string& to, const std::string& from) {
  switch (bits_of_kind(kind)) {
    case 1: return fmt::format("selp.b64 {}, 1, 0, {};", to, from);
    case 64: return fmt::format("mov.b64 {}, {};", to, from);
    case 32: return fmt::format("mov.b32 %u, {1}; cvt.u64.u32 {0}, %u;", to, from);
    default: return fmt::format("cvt.u64.u16 {}, {};", to, from);
  }
}

constexpr const char* head = R"(
.visible .entry {}(.param .u64 in, .param .u64 out, .param .u64 count) {{
.reg .b64 %in, %out, %count, %at, %t, %w<5>, %y<9>;
.reg .b32 %u, %i<4>, %r<9>;
.reg .b16 %h<9>;
.reg .f32 %f<9>;
.reg .f64 %d<9>;
.reg .pred %p<9>;
ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; ld.param.u64 %count, [count];
mov.u32 %i1, %ctaid.x; mov.u32 %i2, %ntid.x; mov.u32 %i3, %tid.x;
mad.lo.s32 %i1, %i1, %i2, %i3;
mul.wide.u32 %at, %i1, 8; shl.b64 %count, %count, 3;
add.s64 %in, %in, %at; add.s64 %out, %out, %at;
)";

// The instruction, from registers 3 on to registers 1 on.
std::string one_step(const Instruction& instruction) {
  std::string text, operands, results;
  for (std::size_t n = 0; n < instruction.operands.size(); ++n) {
    const std::string reg = register_of(instruction.operands[n], static_cast<int>(n) + 3);
    text += unpacked(instruction.operands[n], reg, fmt::format("%w{}", n)) + "\n";
    operands += ", " + reg;
  }
  for (std::size_t n = 0; n < instruction.results.size(); ++n)
    results += (n > 0 ? "|" : "") + register_of(instruction.results[n], static_cast<int>(n) + 1);
  text += fmt::format("{} {}{}{};\n", instruction.name, results, operands, instruction.rest);
  text += packed(instruction.results[0], "%y1", register_of(instruction.results[0], 1));
  if (instruction.results.size() == 2)
    text +=
        packed('p', "%y2", register_of('p', 2)) + " shl.b64 %y2, %y2, 32; or.b64 %y1, %y1, %y2;";
  return text + "\n";
}

// Four registers of each class begin as what the words hold. All of them make up the result, but
// which NaN a register of 64 bits holds.
std::string all_steps(const Instruction& program) {
  constexpr int first = 3, count = 4;
  std::string text;
  for (const char kind : {'f', 'd', 'y', 'h', 'x', 'p'})
    for (int n = 0; n < count; ++n)
      text += unpacked(kind, register_of(kind, first + n), fmt::format("%w{}", n)) + "\n";
  std::uint64_t draw = program.steps.size();
  const auto some = [&](char kind) {
    draw = assay::scramble(draw + static_cast<unsigned char>(program.name.back()));
    return register_of(kind, first + static_cast<int>(draw % count));
  };
  for (const Instruction* step : program.steps) {
    std::string operands, results = some(step->results[0]);
    if (step->results.size() == 2) results += "|" + register_of('p', first + count);
    for (const char kind : step->operands) operands += ", " + some(kind);
    text += fmt::format("{} {}{}{};\n", step->name, results, operands, step->rest);
  }
  text += "mov.b64 %y1, 0;\n";
  for (const char kind : {'f', 'd', 'y', 'h', 'x', 'p'})
    for (int n = 0; n < count; ++n) {
      const std::string reg = register_of(kind, first + n);
      if (kind == 'd')
        text += fmt::format(
            "testp.notanumber.f64 %p1, {0}; selp.f64 {0}, 0d7ff8000000000000, {0}, "
            "%p1;\n",
            reg);
      text += packed(kind, "%y2", reg) +
              " shl.b64 %t, %y1, 7; shr.u64 %y1, %y1, 57; or.b64 %y1, %y1, %t; xor.b64 %y1, %y1, "
              "%y2;\n";
    }
  return text;
}

std::string kernel_of(const Instruction& instruction, const std::string& name) {
  std::string text = fmt::format(fmt::runtime(head), name);
  for (std::size_t n = 0; n < instruction.operands.size(); ++n)
    text += fmt::format("ld.global.u64 %w{}, [%in]; add.s64 %in, %in, %count;\n", n);
  text += instruction.steps.empty() ? one_step(instruction) : all_steps(instruction);
  return text + "st.global.u64 [%out], %y1;\nret;\n}\n";
}

}  // namespace

std::string kernel_name(std::size_t index) { return fmt::format("k{}", index); }

std::string module_of(const std::vector<Instruction>& all) {
  std::string text = ".version 8.3\n.target sm_90\n.address_size 64\n";
  for (std::size_t i = 0; i < all.size(); ++i) text += kernel_of(all[i], kernel_name(i));
  return text;
}

}  // namespace ptx::hardware
