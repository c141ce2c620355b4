// Whatever happened to a text on its way here: it is read, and then holds together, or refused with
// one line. PTX_DAMAGE_ROUNDS asks for more rounds than a test has time for, PTX_DAMAGE_SEED for
// others.
#include <gtest/gtest.h>

#include "base/printable.h"
#include "ptx/reader/reader.h"
#include "ptx/reader/tests/containers.h"
#include "ptx/reader/tests/damage.h"
#include "ptx/reader/tests/flaws.h"
#include "ptx/reader/tests/samples.h"

namespace ptx::tests {
namespace {

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
  Tally tally, later;  // of whole texts, and of those whose bodies are read later
  for (std::uint64_t seed = first; seed < first + rounds; ++seed) {
    Damage damage(seed);
    std::string text = texts[seed % texts.size()];
    for (std::uint64_t times = 1 + damage.below(3); times > 0; --times) damage.apply(text, texts);
    const auto judge = [&](Tally& tally, Module (*read)(std::string_view)) {
      tally.judge(seed, [&] {
        ASSERT_EQ(flaw_of(read(text)), "") << "seed " << seed << "\n" << assay::printable(text);
      });
    };
    judge(tally, read);
    judge(later, read_backwards);
    ASSERT_EQ(later.read, tally.read) << "seed " << seed << "\n" << assay::printable(text);
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
