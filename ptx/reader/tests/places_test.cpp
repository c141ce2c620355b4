// Source lines of instructions.
#include <gtest/gtest.h>

#include "ptx/reader/reader.h"
#include "ptx/reader/tests/samples.h"

namespace ptx::tests {
namespace {

// "twicef gemm.h:97 < halff gemm.h:112 < scale.cu:19"
std::string chain(const Module& module, int place) {
  std::string text;
  for (; place >= 0; place = module.places.at(place).called_from) {
    const Place& one = module.places.at(place);
    if (!text.empty()) text += " < ";
    if (!one.function.empty()) text += one.function + " ";
    text += module.files.at(one.file) + ":" + std::to_string(one.line);
  }
  return text;
}

TEST(Places, AreThoseOfTheLastLoc) {
  const Module module = read(kernel_sample);
  const auto& body = module.functions.at(0).body;
  EXPECT_EQ(chain(module, body[0].place), "/home/somebody/scale.cu:17");
  EXPECT_EQ(chain(module, body[2].place),
            "_Z4halff /home/somebody/gemm.h:112 < /home/somebody/scale.cu:19");
  EXPECT_EQ(chain(module, body[3].place),
            "_Z5twicef with \"three\".h:97 < _Z4halff /home/somebody/gemm.h:112 < "
            "/home/somebody/scale.cu:19");
  EXPECT_EQ(body[3].place, body[6].place);
  EXPECT_EQ(chain(module, body[7].place), "/home/somebody/scale.cu:20");
  EXPECT_EQ(module.places.size(), 5u);
}

std::string with_locs(const std::string& statements) {
  return with_body(statements) + ".file 4000000 \"a.cu\"\n.file 0 \"b.cu\"\n";
}

TEST(Places, FilesHaveNumbersOfAnySize) {
  const Module module = read(with_locs(".loc 4000000 1 0\nret; .loc 0 2 0\nret;"));
  const auto& body = module.functions.at(0).body;
  EXPECT_EQ(chain(module, body[0].place), "a.cu:1");
  EXPECT_EQ(chain(module, body[1].place), "b.cu:2");
  EXPECT_EQ(module.files.size(), 2u);
}

TEST(Places, TheSameTwiceIsOne) {
  const Module module = read(with_locs(".loc 0 2 0\nret; .loc 0 3 0\nret; .loc 0 2 0\nret;"));
  const auto& body = module.functions.at(0).body;
  EXPECT_EQ(body[0].place, body[2].place);
  EXPECT_NE(body[0].place, body[1].place);
  EXPECT_EQ(read(with_locs("ret;")).functions[0].body[0].place, -1);
}

// The line that calls may itself be inlined somewhere: the latest of that spot counts.
TEST(Places, ACallerIsTheLatestOfItsSpot) {
  const Module module =
      read(with_locs(".loc 0 5 1, function_name L, inlined_at 0 1 1\nret;\n"
                     ".loc 0 9 1, function_name L, inlined_at 0 5 1\nret;\n"
                     ".loc 0 5 1, function_name L, inlined_at 0 2 2\nret;\n"
                     ".loc 0 9 1, function_name L, inlined_at 0 5 1\nret;\n"
                     ".loc 0 9 1, function_name L, inlined_at 0 5 7\nret;\n"));
  const auto& body = module.functions.at(0).body;
  EXPECT_EQ(chain(module, body[1].place), "b.cu:9 < b.cu:5 < b.cu:1");
  EXPECT_EQ(chain(module, body[3].place), "b.cu:9 < b.cu:5 < b.cu:2");
  EXPECT_EQ(chain(module, body[4].place), "b.cu:9 < b.cu:5") << "another column, so nobody knows";
}

TEST(Places, ACallerIsOfTheSameFunction) {
  const Module module =
      read(with_declarations(".file 1 \"a.cu\"\n.func f() { .loc 1 5 1, inlined_at 1 1 1\nret; }\n"
                             ".func g() { .loc 1 9 1, inlined_at 1 5 1\nret; }"));
  EXPECT_EQ(chain(module, module.functions[1].body[0].place), "a.cu:9 < a.cu:5");
}

TEST(Places, NamesOfFunctionsLieInTheSectionOfStrings) {
  const auto name = [](const std::string& label, const std::string& section) {
    const Module module = read(
        with_locs(".loc 0 5 1, function_name " + label + ", inlined_at 0 1 1\nret;") + section);
    return module.places.at(module.functions[0].body[0].place).function;
  };
  const std::string section = ".section .debug_str { A: .b8 0x61,98\n.b8 99,0\nB: .b8 100,0 }";
  EXPECT_EQ(name("A", section), "abc");
  EXPECT_EQ(name("B", section), "d");
  EXPECT_EQ(name("A+1", section), "bc");
  EXPECT_EQ(name("A+4", section), "d");
  EXPECT_EQ(name("A+99", section), "");
  EXPECT_EQ(name("A-1", section), "");
  EXPECT_EQ(name("C", section), "");
  EXPECT_EQ(name("A", ""), "") << "no such section";
  EXPECT_EQ(name("A", ".section .debug_str { A: .b8 97 }"), "a") << "cut short";
}

}  // namespace
}  // namespace ptx::tests
