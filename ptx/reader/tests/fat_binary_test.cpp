// PTX within what nvcc puts into objects.
#include <gtest/gtest.h>

#include "ptx/reader/reader.h"
#include "ptx/reader/tests/containers.h"

namespace ptx::tests {
namespace {

std::string refusal(const std::string& container) {
  try {
    ptx_within(bytes(container));
  } catch (const BadPtx& error) {
    return error.what();
  }
  return "read";
}

TEST(FatBinary, HoldsPtx) {
  EXPECT_EQ(ptx_within(bytes(container({{.text = "hello"}}))), "hello");
  EXPECT_EQ(ptx_within(bytes(container({{.text = std::string("hello\0\0\0", 8)}}))), "hello");
}

TEST(FatBinary, TheNewestPtxCounts) {
  EXPECT_EQ(ptx_within(bytes(container({{.architecture = 80, .text = "eighty"},
                                        {.architecture = 100, .text = "hundred"},
                                        {.kind = 2, .architecture = 120, .text = "machine code"},
                                        {.architecture = 90, .text = "ninety"}}))),
            "hundred");
}

TEST(FatBinary, MayHaveLongerHeaders) {
  EXPECT_EQ(ptx_within(bytes(container({{.header = 72, .text = "hello"}}, 24))), "hello");
}

TEST(FatBinary, WithoutPtxSaysWhatToDo) {
  const std::string advice =
      "compiled for machine code only: add -gencode arch=compute_90,code=compute_90";
  EXPECT_EQ(refusal(container({{.kind = 2}})), advice);
  EXPECT_EQ(refusal(container({})), advice);
}

TEST(FatBinary, CompressedSaysWhatToDo) {
  const std::string advice = "the PTX is compressed: compile with --no-compress";
  EXPECT_EQ(refusal(container({{.flags = 0x8011}})), advice) << "Zstandard";
  EXPECT_EQ(refusal(container({{.flags = 0x2011}})), advice) << "LZ4";
  EXPECT_EQ(refusal(container({{.whole_size = 351}})), advice);
  EXPECT_EQ(refusal(container({{.flags = 0x11}})), "read");
  EXPECT_EQ(refusal(container({{.architecture = 80}, {.flags = 0x8011}})), advice);
  EXPECT_EQ(refusal(container({{.kind = 2, .flags = 0x8011}, {}})), "read");
}

TEST(FatBinary, TellsRegistersByIntactMachineCodeForTheDeviceAlone) {
  const auto registers = [](const Content& content) {
    return registers_within(bytes(container({{}, content})), 90).size();
  };
  EXPECT_EQ(registers({}), 0u) << "it is PTX";
  EXPECT_EQ(registers({.kind = 2, .architecture = 80}), 0u);
  EXPECT_EQ(registers({.kind = 2, .architecture = 100}), 0u);
  EXPECT_EQ(registers({.kind = 2, .flags = 0x8011}), 0u) << "compressed";
  try {
    registers({.kind = 2});
    FAIL() << "\"text\" is no machine code";
  } catch (const BadPtx& error) {
    EXPECT_STREQ(error.what(),
                 "the fat binary holds machine code that is damaged: it does not begin as an ELF64 "
                 "file does");
  }
}

TEST(FatBinary, OfAnotherFormat) {
  std::string text = container({{}});
  text[4] = 2;
  EXPECT_EQ(refusal(text), "the fat binary has version 2, which is not known here");
  text[0] = 1;
  EXPECT_EQ(refusal(text), "the fat binary begins with 0xba55ed01, not with 0xba55ed50");
}

TEST(FatBinary, CutAnywhereIsRefused) {
  const std::string whole = container({{.kind = 2}, {.text = "hello"}});
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_NE(refusal(whole.substr(0, size)).find("is cut short"), std::string::npos) << size;
  EXPECT_EQ(refusal(whole.substr(0, 3)), "the fat binary is cut short: it has 3 bytes");
  EXPECT_EQ(refusal(whole + "what follows is another's"), "read");
}

TEST(FatBinary, ChecksEveryLength) {
  const auto with = [](std::size_t at, std::size_t count, char value) {
    std::string text = container({{.text = "hello"}});
    text.replace(at, count, std::string(count, value));
    return refusal(text);
  };
  const auto whole = [](const std::string& lengths) {
    return "the fat binary is cut short: its header tells of " + lengths +
           " bytes, and there are 85";
  };
  const auto entry = [](const std::string& lengths) {
    return "the fat binary is cut short: an entry tells of " + lengths + " bytes, and there are 69";
  };
  EXPECT_EQ(with(6, 2, '\xff'), whole("65535 + 69"));
  EXPECT_EQ(with(6, 1, 15), whole("15 + 69")) << "shorter than any";
  EXPECT_EQ(with(8, 8, '\xff'), whole("16 + 18446744073709551615"));
  EXPECT_EQ(with(16 + 4, 4, '\xff'), entry("4294967295 + 5"));
  EXPECT_EQ(with(16 + 4, 1, 63), entry("63 + 5")) << "shorter than any";
  EXPECT_EQ(with(16 + 8, 8, '\xff'), entry("64 + 18446744073709551615"));
}

}  // namespace
}  // namespace ptx::tests
