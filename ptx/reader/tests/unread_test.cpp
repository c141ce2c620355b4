// Bodies that are read later: they say the same then.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "ptx/reader/reader.h"
#include "ptx/reader/tests/flaws.h"
#include "ptx/reader/tests/samples.h"

namespace ptx::tests {
namespace {

std::string text_of(const Operand& o) {
  std::string text = fmt::format("{}:{}:{}:{}:{}:{}:{}", static_cast<int>(o.kind), o.index,
                                 o.negated, o.width, o.bits, o.offset, o.text);
  for (const Operand& element : o.elements) text += "," + text_of(element);
  return text;
}

// With the lines that it comes from, however places are numbered.
std::string text_of(const Module& module, const Function& function) {
  std::string text;
  for (const Register& r : function.registers) text += r.name + " ";
  for (const Variable& v : function.variables) text += v.name + " ";
  for (const Instruction& i : function.body) {
    text += fmt::format("\n{}: {} {}", i.line, i.opcode, i.guard);
    for (const std::string& modifier : i.modifiers) text += "." + modifier;
    for (const Operand& operand : i.operands) text += " " + text_of(operand);
    for (int at = i.place; at >= 0;
         at = module.places.at(static_cast<std::size_t>(at)).called_from) {
      const Place& place = module.places.at(static_cast<std::size_t>(at));
      text += fmt::format(" < {}:{} {}", module.files.at(static_cast<std::size_t>(place.file)),
                          place.line, place.function);
    }
  }
  return text;
}

std::ptrdiff_t unread_in(const Module& module) {
  return std::count_if(module.functions.begin(), module.functions.end(),
                       [](const Function& f) { return f.is_unread; });
}

const std::string two_kernels = with_declarations(
    ".file 1 \"a.cu\"\n.file 2 \"b.cu\"\n"
    ".visible .entry f() { .reg .b32 %r<3>;\n.loc 1 5 1\n// } \"\nmov.b32 %r1, 1; /* } */\n"
    "{ .reg .b32 %r<3>; mov.b32 %r2, 2; }\n.loc 2 7 1, function_name L, inlined_at 1 5 1\nret; }\n"
    ".visible .entry g() { .pragma \"}\";\n.loc 2 9 1\nret; }\n"
    ".section .debug_str { L: .b8 97,0 }");

TEST(Unread, BodiesSayTheSameLater) {
  std::vector<std::string_view> samples = all_samples();
  samples.push_back(two_kernels);
  for (const std::string_view sample : samples) {
    const Module now = read(sample), later = read_backwards(sample);
    EXPECT_EQ(flaw_of(later), "");
    ASSERT_EQ(later.functions.size(), now.functions.size());
    for (std::size_t i = 0; i < now.functions.size(); ++i)
      EXPECT_EQ(text_of(later, later.functions[i]), text_of(now, now.functions[i]));
  }
}

TEST(Unread, AreKernelsThatCallNothing) {
  Module module = read_without_bodies(two_kernels);
  EXPECT_EQ(unread_in(module), 2);
  EXPECT_TRUE(module.functions[1].body.empty());
  read_body_of(module.functions[1], module);
  EXPECT_EQ(unread_in(module), 1);
  EXPECT_EQ(module.functions[1].body.size(), 1u);
  EXPECT_EQ(unread_in(read_without_bodies(calls_sample)), 0);
}

TEST(Unread, ABodyKnowsWhatWasDeclaredBeforeIt) {
  const std::string text = with_declarations(
      ".visible .entry f() { .reg .b64 %rd<2>; mov.b64 %rd1, late; ret; }\n"
      ".global .b32 late;\n"
      ".visible .entry g() { .reg .b64 %rd<2>; mov.b64 %rd1, late; ret; }\n");
  Module module = read_without_bodies(text);
  for (int times = 0; times < 2; ++times) {
    try {
      read_body_of(module.functions[0], module);
      FAIL() << "it was read";
    } catch (const BadPtx& why) {
      EXPECT_NE(std::string(why.what()).find("line 4: "), std::string::npos) << why.what();
    }
  }
  read_body_of(module.functions[1], module);
  EXPECT_EQ(module.functions[1].body.size(), 2u);
}

TEST(Unread, ABodyWithoutItsEndIsNone) {
  EXPECT_THROW(read_without_bodies(with_declarations(".visible .entry f() { { ret; }")), BadPtx);
}

}  // namespace
}  // namespace ptx::tests
