// What may happen to a text on its way: bytes and words that are lost, doubled, exchanged, or come
// from elsewhere. PTX_DAMAGE_ROUNDS asks for more rounds than a test has time for, PTX_DAMAGE_SEED
// for others.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/scramble.h"

namespace ptx::tests {

inline std::uint64_t setting(const char* name, std::uint64_t otherwise) {
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

}  // namespace ptx::tests
