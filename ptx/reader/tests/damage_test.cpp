// Whatever happened to a text on its way here: it is read, and then holds together, or refused with
// one line. PTX_DAMAGE_ROUNDS asks for more rounds than a test has time for, PTX_DAMAGE_SEED for
// others.
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/printable.h"
#include "base/scramble.h"
#include "ptx/reader/reader.h"
#include "ptx/reader/tests/containers.h"
#include "ptx/reader/tests/flaws.h"
#include "ptx/reader/tests/samples.h"

namespace ptx::tests {
namespace {

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr ? std::strtoull(value, nullptr, 10) : otherwise;
}

class Damage {
 public:
  explicit Damage(std::uint64_t seed) : state_(seed) {}

  std::uint64_t below(std::uint64_t end) {
    state_ = assay::scramble(state_);
    return end == 0 ? 0 : state_ % end;
  }

  void apply(std::string& text, const std::vector<std::string>& others) {
    const std::size_t at = below(text.size() + 1),
                      length = below(std::min<std::size_t>(40, text.size() - at) + 1);
    switch (below(9)) {
      case 0: return flip(text);
      case 1: return void(text.insert(at, 1, static_cast<char>(below(256))));
      case 2: return text.resize(at);
      case 3: return void(text.erase(at, length));
      case 4: return void(text.insert(at, text.substr(at, length)));
      case 5: return swap_words(text);
      case 6: return replace_word(text, std::string(numbers[below(std::size(numbers))]));
      case 7: return replace_word(text, some_word(others[below(others.size())]));
      default: return void(text.insert(at, some_word(others[below(others.size())])));
    }
  }

  void flip(std::string& text) {
    if (!text.empty()) text[below(text.size())] ^= static_cast<char>(1 << below(8));
  }

 private:
  struct Word {
    std::size_t at, length;
  };
  static constexpr const char* numbers[] = {"0",
                                            "-1",
                                            "4294967296",
                                            "9223372036854775807",
                                            "18446744073709551615",
                                            "1e308",
                                            "0f7fc00000",
                                            "0x",
                                            "1 << 63",
                                            "65536",
                                            "99999999999999999999"};
  static constexpr const char* between = " \t\n,;()[]{}<>+:|@!";

  // One that stands somewhere in the text; words end at blanks and marks, and marks are words.
  Word find_word(const std::string& text) {
    if (text.empty()) return {0, 0};
    std::size_t begin = below(text.size());
    if (std::string_view(between).find(text[begin]) != std::string_view::npos) return {begin, 1};
    begin = text.find_last_of(between, begin) + 1;
    return {begin, std::min(text.find_first_of(between, begin), text.size()) - begin};
  }
  std::string some_word(const std::string& text) {
    const Word word = find_word(text);
    return text.substr(word.at, word.length);
  }
  void replace_word(std::string& text, const std::string& by) {
    const Word word = find_word(text);
    text.replace(word.at, word.length, by);
  }
  void swap_words(std::string& text) {
    Word first = find_word(text), second = find_word(text);
    if (first.at > second.at) std::swap(first, second);
    if (first.at + first.length > second.at) return;
    const std::string before = text.substr(first.at, first.length);
    const std::string behind = text.substr(second.at, second.length);
    text.replace(second.at, second.length, before);
    text.replace(first.at, first.length, behind);
  }

  std::uint64_t state_;
};

// Counts what was read; the rest was refused.
struct Tally {
  std::uint64_t read = 0, refused = 0;

  template <class Use>
  void judge(std::uint64_t seed, const Use& use) {
    try {
      use();
      ++read;
    } catch (const BadPtx& error) {
      ++refused;
      const std::string message = error.what();
      ASSERT_EQ(message, assay::printable(message)) << "seed " << seed;
      ASSERT_LT(message.size(), 300u) << "seed " << seed;
      ASSERT_FALSE(message.empty()) << "seed " << seed;
    }
  }
};

TEST(Damage, OfTextsDoesNoHarm) {
  std::vector<std::string> texts;
  for (const std::string_view sample : all_samples()) texts.emplace_back(sample);
  const std::uint64_t first = setting("PTX_DAMAGE_SEED", 1);
  const std::uint64_t rounds = setting("PTX_DAMAGE_ROUNDS", 20000);
  Tally tally;
  for (std::uint64_t seed = first; seed < first + rounds; ++seed) {
    Damage damage(seed);
    std::string text = texts[seed % texts.size()];
    for (std::uint64_t times = 1 + damage.below(3); times > 0; --times) damage.apply(text, texts);
    tally.judge(seed, [&] {
      ASSERT_EQ(flaw_of(read(text)), "") << "seed " << seed << "\n" << assay::printable(text);
    });
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(tally.read, rounds / 20) << "damage so heavy tests little";
  EXPECT_GT(tally.refused, rounds / 3) << "damage so light tests little";
}

TEST(Damage, OfFatBinariesDoesNoHarm) {
  const std::vector<std::string> whole = {
      container({{.text = std::string(kernel_sample)}}),
      container({{.kind = 2, .text = "machine code"}, {.architecture = 80}, {.text = "ninety"}}),
      container({{.header = 80, .flags = 0x8011, .whole_size = 9}}, 24)};
  const std::uint64_t first = setting("PTX_DAMAGE_SEED", 1);
  const std::uint64_t rounds = setting("PTX_DAMAGE_ROUNDS", 20000);
  Tally tally;
  for (std::uint64_t seed = first; seed < first + rounds; ++seed) {
    Damage damage(seed);
    std::string text = whole[seed % whole.size()];
    if (damage.below(2) == 0) {
      std::string head = text.substr(0, 120);
      damage.flip(head);
      text.replace(0, head.size(), head);
    } else {
      damage.apply(text, whole);
    }
    const std::vector<char> exact(text.begin(), text.end());  // sanitizers watch its end
    tally.judge(seed, [&] { ptx_within(std::as_bytes(std::span(exact))); });
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(tally.read, rounds / 20) << "damage so heavy tests little";
  EXPECT_GT(tally.refused, rounds / 3) << "damage so light tests little";
}

}  // namespace
}  // namespace ptx::tests
