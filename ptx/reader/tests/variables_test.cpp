// Variables, and what they hold at first.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "ptx/reader/reader.h"
#include "ptx/reader/tests/samples.h"

namespace ptx::tests {
namespace {

using testing::ElementsAre;

Variable variable(const std::string& declaration) {
  return read(with_declarations(".func fn(); .global .b8 g[64];" + declaration)).variables.at(1);
}

template <class T>
std::vector<T> values(const std::string& declaration) {
  const Variable read = variable(declaration);
  std::vector<T> values(read.initial.size() / sizeof(T));
  std::memcpy(values.data(), read.initial.data(), values.size() * sizeof(T));
  return values;
}

TEST(Variables, HaveASpaceATypeAndASize) {
  const Variable bytes = variable(".visible .const .align 16 .b8 x[3][4];");
  EXPECT_EQ(bytes.name, "x");
  EXPECT_EQ(bytes.space, Space::constant);
  EXPECT_EQ(bytes.type, Type::b8);
  EXPECT_EQ(bytes.bytes, 12u);
  EXPECT_EQ(bytes.align, 16u);
  EXPECT_FALSE(bytes.is_extern);
  EXPECT_EQ(variable(".shared .b64 x;").align, 8u) << "that of its type";
  EXPECT_EQ(variable(".shared .b64 x;").bytes, 8u);
  EXPECT_EQ(variable(".weak .global .v4 .f32 x[2];").bytes, 32u);
  EXPECT_EQ(variable(".weak .global .v4 .f32 x[2];").align, 16u);
  EXPECT_EQ(variable(".common .global .attribute(.managed) .u32 x;").space, Space::global);
}

TEST(Variables, OfAllTypes) {
  const std::pair<const char*, int> sizes[] = {
      {"b8", 1},  {"b16", 2}, {"b32", 4},   {"b64", 8},  {"b128", 16},  {"u8", 1},  {"u16", 2},
      {"u32", 4}, {"u64", 8}, {"s8", 1},    {"s16", 2},  {"s32", 4},    {"s64", 8}, {"f16", 2},
      {"f32", 4}, {"f64", 8}, {"f16x2", 4}, {"bf16", 2}, {"bf16x2", 4}, {"tf32", 4}};
  for (const auto& [type, bytes] : sizes) {
    const Variable read = variable(std::string(".global .") + type + " x;");
    EXPECT_EQ(read.bytes, static_cast<std::uint64_t>(bytes)) << type;
    EXPECT_EQ(bytes_of(read.type), bytes) << type;
  }
  EXPECT_EQ(bytes_of(Type::none), 0);
  EXPECT_EQ(bytes_of(Type::pred), 0);
}

TEST(Variables, SeveralInOneDeclaration) {
  const Module module = read(with_declarations(".shared .align 8 .b32 a, b[3];"));
  ASSERT_EQ(module.variables.size(), 2u);
  EXPECT_EQ(module.variables[1].bytes, 12u);
  EXPECT_EQ(module.variables[1].align, 8u);
}

TEST(Variables, OfUnknownSizeAreExtern) {
  const Variable dynamic = variable(".extern .shared .align 16 .b8 x[];");
  EXPECT_TRUE(dynamic.is_extern);
  EXPECT_EQ(dynamic.bytes, 0u);
}

TEST(Variables, AreDefinedOnce) {
  const auto one = [](const std::string& text) {
    const Module module = read(with_declarations(text));
    EXPECT_EQ(module.variables.size(), 1u) << text;
    return module.variables.at(0);
  };
  EXPECT_EQ(one(".extern .global .b8 x[]; .global .b8 x[4];").bytes, 4u);
  EXPECT_EQ(one(".global .b8 x[4]; .extern .global .b8 x[];").bytes, 4u);
  EXPECT_TRUE(one(".extern .shared .b8 x[]; .extern .shared .b8 x[];").is_extern);
}

TEST(Variables, HoldIntegers) {
  EXPECT_THAT(values<std::uint8_t>(".global .b8 x[4] = {1, 255, -1, 0x7f};"),
              ElementsAre(1, 255, 255, 127));
  EXPECT_THAT(values<std::int32_t>(".global .s32 x = -3;"), ElementsAre(-3));
  EXPECT_THAT(values<std::uint64_t>(".global .u64 x[2] = {0xFFFFFFFFFFFFFFFF, 1 << 40};"),
              ElementsAre(~std::uint64_t{0}, std::uint64_t{1} << 40));
  EXPECT_THAT(values<std::uint64_t>(".global .b128 x = 7;"), ElementsAre(7, 0));
}

TEST(Variables, HoldReals) {
  EXPECT_THAT(
      values<float>(".const .f32 x[4] = {0f3F800000, 1.5, 0d4000000000000000, -0f40000000};"),
      ElementsAre(1.f, 1.5f, 2.f, -2.f));
  EXPECT_THAT(values<double>(".const .f64 x[3] = {0d3FF0000000000000, 0.1, 0f40000000};"),
              ElementsAre(1., 0.1, 2.));
}

TEST(Variables, HoldFewerValuesThanTheyMay) {
  const Variable read = variable(".global .b8 x[100] = {1, 2};");
  EXPECT_EQ(read.bytes, 100u);
  EXPECT_EQ(read.initial.size(), 2u);
}

TEST(Variables, OfSeveralDimensionsHoldRows) {
  EXPECT_THAT(values<std::uint8_t>(".global .b8 x[3][2] = {{1}, {2, 3}, {4}};"),
              ElementsAre(1, 0, 2, 3, 4));
  EXPECT_THAT(values<std::uint8_t>(".global .b8 x[2][2] = {1, 2, 3};"), ElementsAre(1, 2, 3));
  EXPECT_THAT(values<std::uint8_t>(".global .b8 x[2][2][2] = {{{1}, {2}}, {{3, 4}}};"),
              ElementsAre(1, 0, 2, 0, 3, 4));
}

TEST(Variables, AreAsLongAsTheirValuesIfTheyDoNotSay) {
  EXPECT_EQ(variable(".global .u16 x[] = {1, 2, 3};").bytes, 6u);
  const Variable rows = variable(".global .u16 x[][2] = {{1}, {3}};");
  EXPECT_EQ(rows.bytes, 8u);
  EXPECT_EQ(rows.initial.size(), 6u);
}

TEST(Variables, HoldAddresses) {
  const Variable read =
      variable(".global .u64 x[6] = {g, generic(g), generic(g)+8, g-4, fn, generic(g+4)+4};");
  ASSERT_EQ(read.relocations.size(), 6u);
  std::vector<std::int64_t> adds;
  for (const auto& one : read.relocations) adds.push_back(one.add);
  EXPECT_THAT(adds, ElementsAre(0, 0, 8, -4, 0, 8));
  EXPECT_FALSE(read.relocations[0].generic);
  EXPECT_TRUE(read.relocations[1].generic);
  EXPECT_EQ(read.relocations[2].at, 16u);
  EXPECT_EQ(read.relocations[2].symbol, "g");
  EXPECT_EQ(read.relocations[4].symbol, "fn");
  EXPECT_EQ(read.initial.size(), 48u);
  EXPECT_EQ(variable(".global .u64 x = fn;").relocations.size(), 1u);
  EXPECT_EQ(variable(".global .u64 x = later; .global .u32 later;").relocations[0].symbol, "later");
}

std::string bytes_of_address(int count, const std::string& symbol) {
  std::string list;
  for (int i = 0; i < count; ++i)
    list += (i ? ", 0xFF" : "0xFF") + std::string(2 * static_cast<std::size_t>(i), '0') + "(" +
            symbol + ")";
  return list;
}

TEST(Variables, HoldAddressesBytByByte) {
  const Variable read =
      variable(".global .u8 x[17] = {7, " + bytes_of_address(8, "generic(g)+4") + ", 9};");
  ASSERT_EQ(read.relocations.size(), 1u);
  EXPECT_EQ(read.relocations[0].at, 1u);
  EXPECT_EQ(read.relocations[0].add, 4);
  EXPECT_TRUE(read.relocations[0].generic);
  EXPECT_EQ(read.initial.size(), 10u);
  EXPECT_EQ(read.initial[9], std::byte{9});
}

TEST(Variables, RefuseHalfAddresses) {
  const auto refused = [](const std::string& list) {
    try {
      variable(".global .u8 x[99] = {" + list + "};");
    } catch (const BadPtx& error) {
      return std::string(error.what());
    }
    return std::string("read");
  };
  EXPECT_EQ(refused(bytes_of_address(8, "g")), "read");
  EXPECT_EQ(refused(bytes_of_address(7, "g")),
            "line 4: an address of which not all eight bytes are there");
  const std::string torn = "line 4: the bytes of an address do not follow each other";
  EXPECT_EQ(refused("0xFF00(g)"), torn);
  EXPECT_EQ(refused("0xFF(g), 1, 0xFF00(g)"), torn);
  EXPECT_EQ(refused("0xFF(g), 0xFF00(fn)"), torn);
  EXPECT_EQ(refused("0xFF(g), 0xFF00(g+1)"), torn);
  EXPECT_EQ(refused("0xFF(g), 0xFF00(generic(g))"), torn);
  EXPECT_EQ(refused("0xFF(g), 0xFF0000(g)"), torn);
  EXPECT_EQ(refused("0xFF0(g)"),
            "line 4: a mask of an address is one byte of it, in a variable of bytes");
}

TEST(Variables, OfTheSampleAreAllThere) {
  const Module module = read(variables_sample);
  std::vector<std::string> names;
  for (const Variable& one : module.variables) names.push_back(one.name);
  EXPECT_THAT(names, ElementsAre("b", "managed", "a", "p", "fp", "w", "d", "counted", "quad",
                                 "tentative", "elsewhere", "bar", "bars"));
  EXPECT_EQ(module.variables[7].bytes, 12u);
}

}  // namespace
}  // namespace ptx::tests
