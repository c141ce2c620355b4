// Text that others wrote does nothing to a terminal or a line.
#include "base/printable.h"

#include <gtest/gtest.h>

namespace assay::tests {
namespace {

TEST(Printable, KeepsText) {
  for (const char* text : {"", "plain", "a\\b <&>", "grün", "日本", "\xf0\x9f\x98\x80"})
    EXPECT_EQ(printable(text), text);
}

TEST(Printable, MakesControlCharactersVisible) {
  EXPECT_EQ(printable("a\nb\tc"), "a\\x0ab\\x09c");
  EXPECT_EQ(printable("\x1b[2J"), "\\x1b[2J");
  EXPECT_EQ(printable(std::string_view("\0\x7f", 2)), "\\x00\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"
                      "2J"),
            "\\xc2\\x9b2J")
      << "a terminal takes U+009B for ESC [";
}

TEST(Printable, MakesWhatIsNoUtf8Visible) {
  EXPECT_EQ(printable("\xff\xfe"), "\\xff\\xfe");
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf") << "too long for its character";
  EXPECT_EQ(printable("\xe6\x97"), "\\xe6\\x97") << "cut off";
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "a surrogate";
}

}  // namespace
}  // namespace assay::tests
