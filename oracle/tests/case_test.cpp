// The text form of a case: what is printed, what is read back, and what is said about what cannot
// be read.
#include "oracle/case.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <sstream>

#include "base/errors.h"
#include "base/suggestion.h"

namespace assay {
void showValue(const Case& c, std::ostream& out) { out << to_string(c); }
}  // namespace assay

namespace {

using namespace assay;
using namespace std::string_literals;

constexpr std::array all_fills = {Fill::uniform, Fill::exact,    Fill::small_ints, Fill::identity,
                                  Fill::one_hot, Fill::special,  Fill::scaled,     Fill::balanced,
                                  Fill::largest, Fill::patterned};

rc::Gen<float> finite_floats() {
  const auto any = rc::gen::map(rc::gen::arbitrary<std::uint32_t>(), [](std::uint32_t bits) {
    const auto value = std::bit_cast<float>(bits);
    return std::isfinite(value) ? value : 1.0f;
  });
  return rc::gen::oneOf(rc::gen::element(0.0f, -0.0f, 1.0f, 0.1f, 1e10f, 3.4028235e38f, 1e-45f),
                        any);
}

rc::Gen<Case> cases() {
  const auto size = rc::gen::inRange<std::int64_t>(0, (std::int64_t{1} << 40) + 1);
  const auto gap = rc::gen::map(rc::gen::oneOf(rc::gen::inRange<std::int64_t>(0, 5), size),
                                [](std::int64_t floats) { return Gap{floats}; });
  return rc::gen::build<Case>(
      rc::gen::set(&Case::m, size), rc::gen::set(&Case::n, size), rc::gen::set(&Case::k, size),
      rc::gen::set(&Case::alpha, finite_floats()), rc::gen::set(&Case::beta, finite_floats()),
      rc::gen::set(&Case::lda, gap), rc::gen::set(&Case::ldb, gap), rc::gen::set(&Case::ldc, gap),
      rc::gen::set(&Case::offset,
                   rc::gen::map(rc::gen::container<std::array<int, 3>>(rc::gen::inRange(0, 4)),
                                [](const std::array<int, 3>& floats) { return Offsets{floats}; })),
      rc::gen::set(&Case::fill, rc::gen::elementOf(all_fills)),
      rc::gen::set(&Case::seed, rc::gen::arbitrary<std::uint64_t>()));
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

std::string joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, " "));
}

// What parse_case says about a text that it cannot read.
std::string complaint_about(const std::string& text) {
  try {
    const Case c = parse_case(text);
    ADD_FAILURE() << "'" << text << "' was read as '" << to_string(c) << "'";
  } catch (const BadInput& error) {
    EXPECT_EQ(error.what(), "case: "s + (error.what() + 6)) << "it says what it is about";
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << "one line";
    return error.what();
  }
  return "";
}

void expect_words(const std::string& text, const std::vector<std::string>& words) {
  for (const auto& word : words)
    EXPECT_NE(text.find(word), text.npos) << text << "\nlacks " << word;
}

RC_GTEST_PROP(CaseText, reads_back_what_it_printed, ()) {
  const Case c = *cases();
  const Case again = parse_case(to_string(c));
  RC_ASSERT(again == c);
  RC_ASSERT(std::signbit(again.alpha) == std::signbit(c.alpha));
  RC_ASSERT(std::signbit(again.beta) == std::signbit(c.beta));
  RC_ASSERT(to_string(again) == to_string(c));
}

RC_GTEST_PROP(CaseText, may_have_its_tokens_in_any_order, ()) {
  const Case c = *cases();
  auto words = words_of(to_string(c));
  const auto random = *rc::gen::arbitrary<std::uint64_t>();
  std::shuffle(words.begin(), words.end(), std::mt19937_64(random));
  RC_ASSERT(parse_case("\t " + joined(words) + "  ") == c);
}

// How many decimal digits of a number are significant.
std::size_t digits_of(std::string text) {
  text = text.substr(0, text.find('e'));
  std::erase_if(text, [](char letter) { return letter < '0' || letter > '9'; });
  const auto first = text.find_first_not_of('0');
  return first == text.npos ? 0 : text.find_last_not_of('0') + 1 - first;
}

RC_GTEST_PROP(CaseText, prints_a_scalar_with_no_digit_too_many, ()) {
  const float value = *rc::gen::suchThat(finite_floats(), [](float f) { return f != 1; });
  const auto words = words_of(to_string(Case{.m = 1, .n = 1, .k = 1, .alpha = value}));
  RC_ASSERT(words.size() == 4u);
  for (std::size_t digits = 1; digits < digits_of(words[3].substr(6)); ++digits) {
    RC_ASSERT(std::strtof(fmt::format("{:.{}g}", value, digits).c_str(), nullptr) != value);
  }
}

TEST(CaseText, is_the_line_of_the_design) {
  const Case c{.m = 1001,
               .n = 513,
               .k = 777,
               .alpha = 1.5,
               .beta = -0.5,
               .ldb = {3},
               .ldc = {1},
               .offset = {{1, 0, 2}},
               .seed = 42};
  const auto rest = "m=1001 n=513 k=777 alpha=1.5 beta=-0.5 ldb=+3 ldc=+1 offset=1,0,2"s;
  EXPECT_EQ(to_string(c), rest + " seed=42");
  EXPECT_EQ(parse_case(rest + " fill=uniform seed=42"), c);
}

TEST(CaseText, omits_every_default_and_nothing_else) {
  EXPECT_EQ(to_string(Case{.m = 1, .n = 2, .k = 3}), "m=1 n=2 k=3");
  EXPECT_EQ(to_string(Case{}), "m=0 n=0 k=0") << "sizes are always there";
  for (const char* word :
       {"alpha=0", "alpha=-1", "beta=1", "beta=-0", "lda=+1", "ldb=+64", "ldc=+1099511627776",
        "offset=0,0,1", "offset=3,2,1", "fill=exact", "fill=small_ints", "fill=identity",
        "fill=one_hot", "fill=special", "seed=1", "seed=18446744073709551615"}) {
    const auto text = fmt::format("m=1 n=2 k=3 {}", word);
    EXPECT_EQ(to_string(parse_case(text)), text);
  }
  EXPECT_EQ(parse_case("seed=0 fill=uniform offset=0,0,0 ldc=+0 ldb=+0 lda=+0 beta=0 alpha=1 k=3 "
                       "n=2 m=1"),
            (Case{.m = 1, .n = 2, .k = 3}));
}

TEST(CaseText, visits_every_member_by_its_name) {
  Case c;
  std::vector<std::string> names;
  for_each_member(c, [&](const char* name, auto&, bool always) {
    names.emplace_back(name);
    EXPECT_EQ(always, names.size() <= 3) << name;
  });
  EXPECT_EQ(joined(names), "m n k alpha beta lda ldb ldc offset fill seed");
}

TEST(CaseText, says_what_each_member_may_be) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> all = {
      {"m", {"whole number", "0", "2^40"}},
      {"n", {"whole number", "0", "2^40"}},
      {"k", {"whole number", "0", "2^40"}},
      {"alpha", {"finite number"}},
      {"beta", {"finite number"}},
      {"lda", {"exceeds the row", "+3"}},
      {"ldb", {"exceeds the row", "+3"}},
      {"ldc", {"exceeds the row", "+3"}},
      {"offset", {"0 to 63", "1,0,2"}},
      {"seed", {"whole number", "2^64 - 1"}},
      {"fill", {"uniform", "exact", "small_ints", "identity", "one_hot", "special"}}};
  for (const auto& [name, expected] : all) {
    for (const char* value : {"", "?", "1x", "x1", "1,", ",1", "--1", "0x10", "1=1", "nan"}) {
      const auto word = fmt::format("{}={}", name, value);
      const auto complaint = complaint_about(word);
      expect_words(complaint, {"'" + word + "'", name + " is "});
      expect_words(complaint, expected);
    }
  }
}

TEST(CaseText, refuses_values_outside_their_range) {
  for (const char* word : {"m=-1",
                           "n=-9223372036854775808",
                           "k=1099511627777",
                           "m=9223372036854775808",
                           "m=1.5",
                           "m=1e3",
                           "m=+1",
                           "alpha=inf",
                           "alpha=-inf",
                           "alpha=nan",
                           "alpha=-nan",
                           "beta=infinity",
                           "beta=3.5e38",
                           "alpha=nan(1)",
                           "lda=3",
                           "lda=-1",
                           "ldb=+-1",
                           "ldb=++1",
                           "ldc=+",
                           "ldc=+1099511627777",
                           "ldc=+1.5",
                           "offset=0,0",
                           "offset=0,0,0,0",
                           "offset=64,0,0",
                           "offset=0,-1,0",
                           "offset=0,0,",
                           "offset=1",
                           "fill=Exact",
                           "fill=exac",
                           "fill=uniform,",
                           "seed=-1",
                           "seed=18446744073709551616",
                           "seed=1.0"}) {
    expect_words(complaint_about(word), {"'"s + word + "'"});
  }
}

TEST(CaseText, reads_the_ends_of_every_range) {
  const Case c = parse_case("m=0 n=1099511627776 k=1 alpha=3.4028235e38 beta=-1e-45 offset=3,0,3");
  EXPECT_EQ(c.n, std::int64_t{1} << 40);
  EXPECT_EQ(c.alpha, std::numeric_limits<float>::max());
  EXPECT_EQ(c.beta, -std::numeric_limits<float>::denorm_min());
}

TEST(CaseText, names_what_is_missing_twice_or_no_pair) {
  expect_words(complaint_about("n=1 k=1"), {"'m' is missing", "m=.. n=.. k=.."});
  expect_words(complaint_about("m=1 k=1"), {"'n' is missing"});
  expect_words(complaint_about("m=1 n=1 alpha=2"), {"'k' is missing"});
  expect_words(complaint_about(""), {"'m' is missing"});
  expect_words(complaint_about(" \t "), {"'m' is missing"});
  expect_words(complaint_about("m=1 n=1 k=1 m=1"), {"'m' is given twice"});
  expect_words(complaint_about("m=1 n=1 k=1 seed=4 seed=5"), {"'seed' is given twice"});
  expect_words(complaint_about("m=1 n=1 k=1 fast"), {"'fast'", "NAME=VALUE", "m=64"});
  expect_words(complaint_about("m=1 n 1 k=1"), {"'n'", "NAME=VALUE"});
}

TEST(CaseText, suggests_the_member_that_was_meant) {
  const auto complaint = complaint_about("m=1 n=1 k=1 alhpa=2");
  expect_words(complaint, {"'alhpa=2'", "no 'alhpa'", "did you mean alpha?",
                           "m, n, k, alpha, beta, lda, ldb, ldc, offset, fill, seed"});
  expect_words(complaint_about("m=1 n=1 k=1 off=1,1,1"), {"did you mean offset?"});
  expect_words(complaint_about("m=1 n=1 k=1 SEED=1"), {"no 'SEED'"});
  EXPECT_EQ(complaint_about("m=1 n=1 k=1 transposed=1").find("did you mean"), std::string::npos);
}

TEST(Suggestion, is_the_nearest_name) {
  const std::vector<std::string> known = {"naive", "tiled_4", "tiled_16", "tiled_32", "warptiled"};
  EXPECT_EQ(suggestion("niave", known), " (did you mean naive?)");
  EXPECT_EQ(suggestion("tiled_33", known), " (did you mean tiled_32?)");
  EXPECT_EQ(suggestion("tiled16", known), " (did you mean tiled_16?)");
  EXPECT_EQ(suggestion("warp", known), " (did you mean warptiled?)") << "a prefix is near";
  EXPECT_EQ(suggestion("naive", known), " (did you mean naive?)");
}

TEST(Suggestion, goes_as_far_as_two_letters_or_a_third) {
  const std::vector<std::string> known = {"abcdefghijkl"};
  EXPECT_EQ(suggestion("abcdefghxxxx", known), " (did you mean abcdefghijkl?)") << "4 of 12";
  EXPECT_EQ(suggestion("abcdefgxxxxx", known), "") << "5 of 12";
  EXPECT_EQ(suggestion("xbcdefghijklx", known), " (did you mean abcdefghijkl?)");
  EXPECT_EQ(suggestion("bxta", {"beta"}), " (did you mean beta?)");
  EXPECT_EQ(suggestion("bxxa", {"beta"}), " (did you mean beta?)");
  EXPECT_EQ(suggestion("xxxa", {"beta"}), "");
}

TEST(Suggestion, is_nothing_where_none_is_near) {
  EXPECT_EQ(suggestion("eigen", {}), "");
  EXPECT_EQ(suggestion("eigen", {"cublas", "tiled"}), "");
  EXPECT_EQ(suggestion("q", {"m", "n", "k"}), "") << "not a letter of them is the same";
  EXPECT_EQ(suggestion("", {"m", "n", "k"}), "") << "nothing was said, so nothing was meant";
}

}  // namespace
