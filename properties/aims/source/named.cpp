#include "properties/aims/source/named.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <set>
#include <string>

namespace assay {
namespace {

constexpr std::int64_t least_number = 33, greatest_number = 1 << 24;

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// A number such as 1'024u at the beginning of a text, which then begins behind it.
std::optional<std::int64_t> take_number(std::string_view& text) {
  std::size_t end = 0;
  std::string digits;
  for (; end < text.size() && (is_word(text[end]) || text[end] == '\'' || text[end] == '.'); ++end)
    if (text[end] != '\'') digits += text[end];
  text.remove_prefix(end);
  const bool is_hex = digits.starts_with("0x") || digits.starts_with("0X");
  const char* const first = digits.data() + (is_hex ? 2 : 0);
  const char* const last = digits.data() + digits.size();
  std::int64_t value = 0;
  const auto [rest, error] = std::from_chars(first, last, value, is_hex ? 16 : 10);
  const bool is_whole = std::all_of(rest, last, [](char c) {
    return std::string_view("uUlLzZ").find(c) != std::string_view::npos;
  });
  if (error != std::errc() || !is_whole) return std::nullopt;
  return value;
}

void skip_blanks(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\n"), text.size()));
}

// Whether `<<` and a number come next: the text then begins with that number.
bool is_shifted(std::string_view& text) {
  std::string_view behind = text;
  skip_blanks(behind);
  if (!behind.starts_with("<<")) return false;
  behind.remove_prefix(2);
  skip_blanks(behind);
  if (behind.empty() || std::isdigit(static_cast<unsigned char>(behind.front())) == 0) return false;
  text = behind;
  return true;
}

// The number that a shift by a number of bits cuts off at, where that is what the text begins with.
std::optional<std::int64_t> take_shift(std::string_view& text) {
  std::string_view behind = text;
  if (!behind.starts_with("<<") && !behind.starts_with(">>")) return std::nullopt;
  behind.remove_prefix(2);
  skip_blanks(behind);
  if (behind.empty() || std::isdigit(static_cast<unsigned char>(behind.front())) == 0)
    return std::nullopt;
  const auto bits = take_number(behind);
  if (!bits || *bits > 24) return std::nullopt;
  text = behind;
  return std::int64_t{1} << *bits;
}

// What no longer fits into a type of 16 bits of this name.
std::optional<std::int64_t> beyond_type(std::string_view word) {
  constexpr std::int64_t beyond = (1 << 16) + 1;
  const bool is_narrow = word == "short" || word == "ushort" || word == "ushort2" ||
                         word == "ushort4" || word == "uint16_t" || word == "int16_t";
  return is_narrow ? std::optional(beyond) : std::nullopt;
}

// Behind what is no code, if that is where the text begins.
bool skip_no_code(std::string_view& text) {
  const auto skip_to = [&](std::string_view end, std::size_t from) {
    const auto at = text.find(end, from);
    text.remove_prefix(at == text.npos ? text.size() : at + end.size());
    return true;
  };
  if (text.starts_with("//") || text.starts_with("#")) return skip_to("\n", 1);
  if (text.starts_with("/*")) return skip_to("*/", 2);
  if (text.starts_with("\"")) return skip_to("\"", 1);
  return false;
}

std::vector<std::int64_t> numbers_from(std::int64_t least, std::string_view source) {
  std::set<std::int64_t> all;
  const auto add = [&](std::optional<std::int64_t> number) {
    if (number && *number >= least && *number <= greatest_number) all.insert(*number);
  };
  while (!source.empty()) {
    if (skip_no_code(source)) continue;
    if (const auto cut = take_shift(source)) {
      add(cut);
    } else if (!is_word(source.front())) {
      source.remove_prefix(1);
    } else if (std::isdigit(static_cast<unsigned char>(source.front())) == 0) {
      const auto end = std::find_if_not(source.begin(), source.end(), is_word);
      const auto length = static_cast<std::size_t>(end - source.begin());
      add(beyond_type(source.substr(0, length)));
      source.remove_prefix(length);
    } else {
      auto number = take_number(source);
      if (number && is_shifted(source)) {
        const auto bits = take_number(source);
        number = bits && *bits < 32 ? std::optional(*number << *bits) : std::nullopt;
      }
      add(number);
    }
  }
  return {all.begin(), all.end()};
}

}  // namespace

std::vector<int> sides_in(std::string_view source) {
  std::vector<int> sides;
  for (const std::int64_t number : numbers_from(16, source))
    if (number == 16 || number == 32 || number == 64) sides.push_back(static_cast<int>(number));
  return sides;
}

std::vector<std::int64_t> numbers_in(std::string_view source) {
  return numbers_from(least_number, source);
}

std::vector<Case> cases_in_texts(std::string_view source) {
  std::vector<Case> cases;
  while (!source.empty()) {
    if (!source.starts_with('"')) {
      if (!skip_no_code(source)) source.remove_prefix(1);
      continue;
    }
    std::string_view text = source.substr(1, source.find('"', 1) - 1);
    skip_no_code(source);
    std::vector<std::int64_t> sizes;
    while (!text.empty()) {
      std::int64_t size = 0;
      const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), size);
      if (error == std::errc()) sizes.push_back(size);
      text.remove_prefix(std::max<std::size_t>(1, static_cast<std::size_t>(rest - text.data())));
    }
    if (sizes.size() == 3 && *std::min_element(sizes.begin(), sizes.end()) > 0)
      cases.push_back({.m = sizes[0], .n = sizes[1], .k = sizes[2]});
  }
  return cases;
}

std::vector<Case> cases_in_tables(std::string_view source, std::int64_t least) {
  constexpr std::size_t most_in_list = 8;
  std::vector<Case> cases;
  std::vector<std::int64_t> sizes;
  const auto take = [&] {
    const bool is_entry = sizes.size() >= 3 && sizes.size() <= most_in_list;
    if (is_entry && std::max({sizes[0], sizes[1], sizes[2]}) >= least &&
        std::min({sizes[0], sizes[1], sizes[2]}) > 0)
      cases.push_back({.m = sizes[0], .n = sizes[1], .k = sizes[2]});
    sizes.clear();
  };
  while (!source.empty()) {
    skip_blanks(source);
    if (source.empty() || skip_no_code(source)) continue;
    if (std::isdigit(static_cast<unsigned char>(source.front())) != 0) {
      const auto number = take_number(source);
      skip_blanks(source);
      const bool ends =
          source.starts_with(",") || source.starts_with("}") || source.starts_with(")");
      if (number && ends)
        sizes.push_back(*number);
      else
        sizes.clear();
      if (!source.starts_with(",")) take();
    } else if (is_word(source.front())) {
      sizes.clear();
      source.remove_prefix(static_cast<std::size_t>(
          std::find_if_not(source.begin(), source.end(), is_word) - source.begin()));
      continue;
    }
    if (!source.empty()) source.remove_prefix(1);
  }
  return cases;
}

bool has_table(std::string_view source) {
  constexpr int least_numbers = 8;
  int depth = 0, numbers = 0;  // of the braces that hold nothing but numbers so far
  while (numbers < least_numbers) {
    skip_blanks(source);
    if (source.empty()) return false;
    if (skip_no_code(source)) continue;
    const char next = source.front();
    if (std::isdigit(static_cast<unsigned char>(next)) != 0) {
      numbers += take_number(source) && depth > 0;
      continue;
    }
    if (next == '{')
      ++depth;
    else if (next == '}')
      --depth;
    else if (next != ',' && next != '-')
      depth = 0;
    if (depth <= 0) depth = numbers = 0;
    source.remove_prefix(1);
  }
  return true;
}

}  // namespace assay
