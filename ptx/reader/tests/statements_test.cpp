// What stands in the body of a function: operands of all forms, scopes, labels, calls.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>

#include "ptx/reader/reader.h"
#include "ptx/reader/tests/samples.h"

namespace ptx::tests {
namespace {

using testing::ElementsAre;
using Kind = Operand::Kind;

std::string register_of(const Function& function, const Operand& operand) {
  return operand.index < 0 ? "none" : function.registers.at(operand.index).name;
}

TEST(Statements, ReadIntegers) {
  const auto bits = [](std::string_view text) {
    const Operand operand = operands_of("mov.b64 %rd1, " + std::string(text) + ";").at(1);
    EXPECT_EQ(operand.kind, Kind::integer) << text;
    return operand.bits;
  };
  EXPECT_EQ(bits("0"), 0u);
  EXPECT_EQ(bits("12U"), 12u);
  EXPECT_EQ(bits("0x1F"), 31u);
  EXPECT_EQ(bits("0XffU"), 255u);
  EXPECT_EQ(bits("017"), 15u);
  EXPECT_EQ(bits("0b101"), 5u);
  EXPECT_EQ(bits("18446744073709551615"), ~std::uint64_t{0});
  EXPECT_EQ(bits("-1"), ~std::uint64_t{0});
  EXPECT_EQ(bits("- 2"), ~std::uint64_t{1});
  EXPECT_EQ(bits("-9223372036854775808"), std::uint64_t{1} << 63);
}

TEST(Statements, ReadExpressionsOfIntegers) {
  const auto value = [](std::string_view text) {
    return static_cast<std::int64_t>(
        operands_of("mov.b64 %rd1, " + std::string(text) + ";").at(1).bits);
  };
  EXPECT_EQ(value("1+2*3"), 7);
  EXPECT_EQ(value("(1+2)*3"), 9);
  EXPECT_EQ(value("10-4-3"), 3);
  EXPECT_EQ(value("1 << 4 | 2 & 3 ^ 1"), 19);
  EXPECT_EQ(value("-8 >> 1"), -4);
  EXPECT_EQ(value("-9 / 2"), -4);
  EXPECT_EQ(value("-9 % 4"), -1);
  EXPECT_EQ(value("9 % 4"), 1);
  EXPECT_EQ(value("~0"), -1);
  EXPECT_EQ(value("+4"), 4);
  EXPECT_EQ(value("1 << 64"), 0);
  EXPECT_EQ(value("-1 >> 99"), -1);
  EXPECT_EQ(value("-9223372036854775808 / -1"), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(value("-9223372036854775808 % -1"), 0);
}

TEST(Statements, ReadReals) {
  const auto real = [](std::string_view text) {
    const Operand operand = operands_of("mov.f32 %f1, " + std::string(text) + ";").at(1);
    EXPECT_EQ(operand.kind, Kind::real) << text;
    return operand;
  };
  EXPECT_EQ(real("0f3F800000").width, 4);
  EXPECT_EQ(real("0f3F800000").bits, 0x3f800000u);
  EXPECT_EQ(real("0F3f80000a").bits, 0x3f80000au);
  EXPECT_EQ(real("0d3FF0000000000000").width, 8);
  EXPECT_EQ(real("0d3FF0000000000000").bits, 0x3ff0000000000000u);
  EXPECT_EQ(real("-0f3F800000").bits, 0xbf800000u);
  EXPECT_EQ(real("-0D3FF0000000000000").bits, 0xbff0000000000000u);
  EXPECT_EQ(real("1.5").width, 8);
  EXPECT_EQ(std::bit_cast<double>(real("1.5").bits), 1.5);
  EXPECT_EQ(std::bit_cast<double>(real("2.5e-3").bits), 2.5e-3);
  EXPECT_EQ(std::bit_cast<double>(real("1e+3").bits), 1000);
  EXPECT_EQ(std::bit_cast<double>(real("1E3").bits), 1000);
  EXPECT_EQ(std::bit_cast<double>(real("-0.25").bits), -0.25);
}

TEST(Statements, ReadRegisters) {
  const Function kernel = body_of("add.s32 %r1, %r2, %r1;");
  ASSERT_EQ(kernel.registers.size(), 2u) << "those that are used";
  EXPECT_EQ(kernel.registers[0].name, "%r1");
  EXPECT_EQ(kernel.registers[0].type, Type::b32);
  EXPECT_EQ(kernel.body[0].operands[0].index, 0);
  EXPECT_EQ(kernel.body[0].operands[1].index, 1);
  EXPECT_EQ(kernel.body[0].operands[2].index, 0);
}

TEST(Statements, ManyRegistersCostNothing) {
  const Function kernel = body_of(
      ".reg .b32 %big<1000000000>; mov.b32 %big999999999, %big65536; mov.b32 %big65536, 0;");
  ASSERT_EQ(kernel.registers.size(), 2u);
  EXPECT_EQ(kernel.registers[0].name, "%big999999999");
  EXPECT_EQ(kernel.body[1].operands[0].index, 1);
}

TEST(Statements, ANumberMayBelongToTheNameOfARange) {
  const Function kernel =
      body_of(".reg .f32 %q1<5>; .reg .b32 %q<2>, %q7; mov.b32 %q0, %q12; mov.b32 %q7, %q1;");
  const auto& operands = kernel.body[0].operands;
  EXPECT_EQ(kernel.registers[operands[0].index].type, Type::b32);
  EXPECT_EQ(kernel.registers[operands[1].index].type, Type::f32);
  EXPECT_EQ(register_of(kernel, kernel.body[1].operands[0]), "%q7");
}

TEST(Statements, ReadSpecialRegisters) {
  const auto text = [](std::string_view name) {
    const Operand operand = operands_of("mov.u32 %r1, " + std::string(name) + ";").at(1);
    EXPECT_EQ(operand.kind, Kind::special) << name;
    return operand.text;
  };
  for (const char* name : {"%tid.x", "%ntid.y", "%ctaid.z", "%nctaid.w", "%laneid", "WARP_SZ",
                           "%lanemask_lt", "%clock64", "%globaltimer", "%envreg31", "%pm0_64",
                           "%cluster_ctarank", "%dynamic_smem_size", "%reserved_smem_offset_1"})
    EXPECT_EQ(text(name), name);
}

TEST(Statements, ReadAddresses) {
  const Function kernel = body_of(
      "ld.f32 %f1, [%rd1]; ld.f32 %f1, [%rd1+16]; ld.f32 %f1, [%rd1+-8]; ld.f32 %f1, [%rd1-8];"
      "ld.f32 %f1, [k_param_0+4]; ld.f32 %f1, [4096]; ld.f32 %f1, [%rd1+4*8].unified, %rd2;");
  const auto address = [&](int i) {
    EXPECT_EQ(kernel.body[i].operands[1].kind, Kind::address);
    return kernel.body[i].operands[1];
  };
  EXPECT_EQ(register_of(kernel, address(0)), "%rd1");
  EXPECT_EQ(address(0).offset, 0);
  EXPECT_EQ(address(1).offset, 16);
  EXPECT_EQ(address(2).offset, -8);
  EXPECT_EQ(address(3).offset, -8);
  EXPECT_EQ(address(4).text, "k_param_0");
  EXPECT_EQ(address(4).index, -1);
  EXPECT_EQ(address(4).offset, 4);
  EXPECT_EQ(address(5).text, "");
  EXPECT_EQ(address(5).index, -1);
  EXPECT_EQ(address(5).offset, 4096);
  EXPECT_EQ(address(6).offset, 32);
  EXPECT_EQ(kernel.body[6].operands.size(), 3u);
}

TEST(Statements, ReadAddressesOfTensors) {
  const Function kernel = body_of("cp.x [%r1], [%rd1, {%r2, 3}], [%r4], {%r5};");
  const Operand& tensor = kernel.body[0].operands[1];
  EXPECT_EQ(register_of(kernel, tensor), "%rd1");
  ASSERT_EQ(tensor.elements.size(), 1u);
  EXPECT_EQ(tensor.elements[0].kind, Kind::vector);
  EXPECT_EQ(register_of(kernel, tensor.elements[0].elements.at(0)), "%r2");
  EXPECT_EQ(tensor.elements[0].elements.at(1).bits, 3u);
  EXPECT_EQ(kernel.body[0].operands[3].kind, Kind::vector);
  EXPECT_EQ(body_of("cp.x [%rd1+4, {%r2, %r3}];").body[0].operands[0].offset, 4);
}

TEST(Statements, ReadVectors) {
  const auto operands = operands_of("mov.b64 {%r1, _}, %rd1;");
  ASSERT_EQ(operands[0].kind, Kind::vector);
  ASSERT_EQ(operands[0].elements.size(), 2u);
  EXPECT_EQ(operands[0].elements[0].kind, Kind::reg);
  EXPECT_EQ(operands[0].elements[1].kind, Kind::discard);
}

TEST(Statements, ReadPredicates) {
  const Function kernel = body_of(
      "setp.lt.and.s32 %p1|%p2, %r1, 4, !%p3; elect.sync _|%p1, -1; @%p1 ret; @!%p2 ret; ret;");
  EXPECT_TRUE(kernel.body[0].two_results);
  ASSERT_EQ(kernel.body[0].operands.size(), 5u);
  EXPECT_EQ(register_of(kernel, kernel.body[0].operands[1]), "%p2");
  EXPECT_TRUE(kernel.body[0].operands[4].negated);
  EXPECT_FALSE(kernel.body[0].operands[1].negated);
  EXPECT_TRUE(kernel.body[1].two_results);
  EXPECT_EQ(kernel.body[1].operands[0].kind, Kind::discard);
  EXPECT_EQ(kernel.registers[kernel.body[2].guard].name, "%p1");
  EXPECT_FALSE(kernel.body[2].guard_negated);
  EXPECT_EQ(kernel.registers[kernel.body[3].guard].name, "%p2");
  EXPECT_TRUE(kernel.body[3].guard_negated);
  EXPECT_EQ(kernel.body[4].guard, -1);
  EXPECT_FALSE(kernel.body[2].two_results);
}

TEST(Statements, LabelsLeadToTheStatementBehindThem) {
  const Function kernel = body_of("bra End; Loop: add.s32 %r1, %r1, 1; bra Loop; End: ret; Last:");
  EXPECT_EQ(kernel.body[0].operands[0].kind, Kind::label);
  EXPECT_EQ(kernel.body[0].operands[0].index, 3);
  EXPECT_EQ(kernel.body[2].operands[0].index, 1);
  EXPECT_THAT(kernel.labels, ElementsAre(std::pair<std::string, int>("Loop", 1),
                                         std::pair<std::string, int>("End", 3),
                                         std::pair<std::string, int>("Last", 4)));
}

TEST(Statements, LabelsBelongToTheirBlock) {
  const Function kernel = body_of(
      "{ Again: bra Again; bra Done; Done: bra Out; }\n"
      "{ Again: bra Again; bra Done; Done: { bra Done; } }\n"
      "Out: ret;");
  std::vector<int> targets;
  for (const Instruction& one : kernel.body)
    if (one.opcode == "bra") targets.push_back(one.operands[0].index);
  EXPECT_THAT(targets, ElementsAre(0, 2, 6, 3, 5, 5));
}

TEST(Statements, ReadListsOfLabels) {
  const Function kernel = body_of(
      "list: .branchtargets A, B, A;\n"
      "@%p1 brx.idx.uni %r1, list; A: ret; B: ret;\n"
      "{ list: .branchtargets C; brx.idx %r1, list; C: ret; }");
  ASSERT_EQ(kernel.branch_targets.size(), 2u);
  EXPECT_THAT(kernel.branch_targets[0], ElementsAre(1, 2, 1));
  EXPECT_THAT(kernel.branch_targets[1], ElementsAre(4));
  EXPECT_EQ(kernel.body[0].operands[1].kind, Kind::symbol);
  EXPECT_EQ(kernel.body[0].operands[1].index, 0);
  EXPECT_EQ(kernel.body[3].operands[1].index, 1);
  EXPECT_EQ(kernel.target_lists.size(), 2u);
}

TEST(Statements, BlocksShadowRegisters) {
  const Function kernel = body_of(
      ".reg .b32 t; mov.b32 t, 0;\n"
      "{ .reg .f32 t; .reg .f64 %r<3>; mov.b32 t, 1; mov.b32 %r2, %r5; { mov.b32 t, 2; } }\n"
      "mov.b32 t, %r2;");
  const auto first = [&](int i) { return kernel.body[i].operands[0].index; };
  EXPECT_NE(first(0), first(1));
  EXPECT_EQ(first(1), first(3)) << "from an inner block";
  EXPECT_EQ(first(0), first(4));
  EXPECT_EQ(kernel.registers[first(1)].type, Type::f32);
  EXPECT_EQ(kernel.registers[first(2)].type, Type::f64);
  EXPECT_EQ(kernel.registers[kernel.body[2].operands[1].index].type, Type::b32) << "no %r5 inside";
  EXPECT_EQ(kernel.registers[kernel.body[4].operands[1].index].type, Type::b32);
}

TEST(Statements, VariablesOfBlocksAreToldApart) {
  const Function kernel = body_of(
      "{ .param .b32 a; st.param.b32 [a+0], %r1; }\n"
      "{ .param .b64 a; st.param.b64 [a+8], %rd1; { .param .b8 a[3]; st.param.b8 [a], 1; } }\n"
      ".shared .b32 s; { .shared .b32 s; mov.u32 %r1, s; } mov.u32 %r1, s;\n"
      "{ .local .b64 k_param_0; mov.u64 %rd1, k_param_0+4; } mov.u64 %rd1, k_param_0;");
  std::vector<std::string> names;
  for (const Variable& variable : kernel.variables) names.push_back(variable.name);
  EXPECT_THAT(names, ElementsAre("a", "a.2", "a.3", "s", "s.2", "k_param_0.2"));
  EXPECT_EQ(kernel.variables[2].bytes, 3u);
  EXPECT_EQ(kernel.variables[5].space, Space::local);
  EXPECT_EQ(kernel.body[0].operands[0].text, "a");
  EXPECT_EQ(kernel.body[1].operands[0].text, "a.2");
  EXPECT_EQ(kernel.body[1].operands[0].offset, 8);
  EXPECT_EQ(kernel.body[2].operands[0].text, "a.3");
  EXPECT_EQ(kernel.body[3].operands[1].text, "s.2");
  EXPECT_EQ(kernel.body[4].operands[1].text, "s");
  EXPECT_EQ(kernel.body[5].operands[1].text, "k_param_0.2");
  EXPECT_EQ(kernel.body[5].operands[1].offset, 4);
  EXPECT_EQ(kernel.body[6].operands[1].text, "k_param_0");
}

TEST(Statements, AVariableMayShadowOneOfTheModule) {
  const Module module = read(with_declarations(
      ".global .b32 g; .entry k() { .shared .b32 g, h[2]; .reg .b64 r; mov.u64 r, g; }"
      ".entry l() { .reg .b64 r; mov.u64 r, g; }"));
  EXPECT_EQ(module.functions[0].body[0].operands[1].text, "g.2");
  EXPECT_EQ(module.functions[0].variables[1].bytes, 8u);
  EXPECT_EQ(module.functions[1].body[0].operands[1].text, "g");
}

TEST(Statements, ReadCallsOfAllForms) {
  const Module module = read(with_declarations(
      ".func f();\n"
      ".entry k() { .reg .pred %p; .reg .b64 %rd<3>; .param .b32 x, y;\n"
      "p: .callprototype ()_ (); q: .callprototype _ (.param .align 4 .b8 _[]) .noreturn;\n"
      "t: .calltargets f, f;\n"
      "call f; call.uni f, (); call (_), f, (y); call %rd1, (), p; call %rd1, q;\n"
      "@!%p call %rd1, t; }"));
  EXPECT_EQ(module.functions.at(1).body.size(), 6u);
}

TEST(Statements, ACallHasItsResultsFirst) {
  const Module module = read(with_declarations(
      ".func f(); .func (.param .b32 r) g(.param .b32 a, .param .b32 b);\n"
      ".entry k() { .reg .b32 %r<3>; .reg .b64 %rd<3>; .param .b32 x, y;\n"
      "p: .callprototype (.param .b32 _) _ (.param .b32 _, .param .align 8 .b8 _[16]) .noreturn;\n"
      "call (x), %rd1, (y, 3), p; call f; call (x, y), g, (); }"));
  const auto& body = module.functions.at(2).body;
  EXPECT_EQ(body[0].results, 1);
  ASSERT_EQ(body[0].operands.size(), 4u);
  EXPECT_EQ(body[0].operands[0].text, "x");
  EXPECT_EQ(body[0].operands[1].kind, Kind::reg);
  EXPECT_EQ(body[0].operands[2].text, "y");
  EXPECT_EQ(body[0].operands[3].bits, 3u);
  EXPECT_EQ(body[1].results, 0);
  ASSERT_EQ(body[1].operands.size(), 1u);
  EXPECT_EQ(body[1].operands[0].text, "f");
  EXPECT_EQ(body[2].results, 2);
  EXPECT_EQ(body[2].operands.size(), 3u);
}

TEST(Statements, AFunctionMayCallItself) {
  const Module module = read(with_declarations(".func f() { call f; ret; }"));
  EXPECT_EQ(module.functions[0].body[0].operands[0].text, "f");
}

TEST(Statements, SkipCommentsAndEmptyStatements) {
  const Function kernel =
      body_of("; ret; // ret;\n /* ret; \n */ ret;; .pragma \"nounroll\"; ret;");
  ASSERT_EQ(kernel.body.size(), 3u);
  EXPECT_EQ(kernel.body[1].line, 9);
}

}  // namespace
}  // namespace ptx::tests
