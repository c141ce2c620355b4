#include "properties/aims/condition.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <vector>

namespace assay {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t{;");
  if (begin == text.npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t{;") + 1 - begin);
}

// What stands between the first parenthesis and the one that closes it; all where none does.
std::string_view in_parentheses(std::string_view text) {
  const auto open = text.find('(');
  int depth = 0;
  for (std::size_t i = open; open != text.npos && i < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (depth == 0) return text.substr(open + 1, i - open - 1);
  }
  return text;
}

bool is_of_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Where a keyword stands as a word.
std::size_t find_word(std::string_view text, std::string_view word) {
  for (auto at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    const auto end = at + word.size();
    const bool begins = at == 0 || !is_of_word(text[at - 1]);
    if (begins && (end == text.size() || !is_of_word(text[end]))) return at;
  }
  return text.npos;
}

// What stands at the end of a text: behind what it is assigned to, returned from or passed to.
std::string_view last_expression(std::string_view text) {
  if (const auto at = text.rfind(" = "); at != text.npos) text = text.substr(at + 3);
  if (const auto at = find_word(text, "return"); at != text.npos) text = text.substr(at + 6);
  int depth = 0;
  for (std::size_t i = text.size(); i-- > 0;) {
    depth += text[i] == ')' ? 1 : text[i] == '(' ? -1 : 0;
    if (depth < 0 || (depth == 0 && text[i] == ',')) return text.substr(i + 1);
  }
  return text;
}

// All that the line asks: of an `if`, a loop, or before a `?`.
std::string_view whole_condition(std::string_view line) {
  for (std::string_view word : {"if", "while"}) {
    if (const auto at = find_word(line, word); at != line.npos)
      return trimmed(in_parentheses(line.substr(at)));
  }
  if (const auto at = find_word(line, "for"); at != line.npos) {
    const std::string_view inside = in_parentheses(line.substr(at));
    const auto begin = inside.find(';'), end = inside.find(';', begin + 1);
    if (begin != inside.npos && end != inside.npos)
      return trimmed(inside.substr(begin + 1, end - begin - 1));
  }
  const auto end = line.find(" ? ");
  return trimmed(end == line.npos ? line : last_expression(line.substr(0, end)));
}

std::vector<std::string_view> parts_of(std::string_view condition) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  for (std::size_t i = 0; i + 1 < condition.size(); ++i) {
    const std::string_view two = condition.substr(i, 2);
    if (two != "&&" && two != "||") continue;
    parts.push_back(trimmed(condition.substr(begin, i - begin)));
    begin = i + 2;
  }
  parts.push_back(trimmed(condition.substr(begin)));
  return parts;
}

bool has_balanced_parentheses(std::string_view text) {
  return std::count(text.begin(), text.end(), '(') == std::count(text.begin(), text.end(), ')');
}

// `left < right`, as the source has it.
struct Relation {
  std::string_view left, comparison, right;
};

// The only one in a part of a condition.
std::optional<Relation> relation_in(std::string_view part) {
  std::optional<Relation> found;
  for (std::size_t i = 0; i < part.size(); ++i) {
    std::size_t length = 0;
    const char c = part[i], next = i + 1 < part.size() ? part[i + 1] : ' ';
    const bool doubled = (c == '<' || c == '>') && next == c;
    if (doubled || (c == '-' && next == '>')) {
      ++i;
      continue;
    }
    if ((c == '=' || c == '!' || c == '<' || c == '>') && next == '=') {
      length = 2;
    } else if (c == '<' || c == '>') {
      length = 1;
    }
    if (length == 0) continue;
    if (found) return std::nullopt;
    found = {trimmed(part.substr(0, i)), part.substr(i, length), trimmed(part.substr(i + length))};
    i += length - 1;
  }
  return found;
}

std::optional<double> number_in(std::string_view text) {
  std::string digits(text);
  std::erase(digits, '\'');
  if (digits.empty() || text.find_first_of("0123456789") == text.npos) return std::nullopt;
  char* end = nullptr;
  const double value = std::strtod(digits.c_str(), &end);
  const bool only_suffix = std::string_view(end).find_first_not_of("fFuUlL") == std::string::npos;
  return end != digits.c_str() && only_suffix ? std::optional(value) : std::nullopt;
}

// What the compiler compares with is the number in the source, or beside it: k > 2047 is k >= 2048.
bool is_about(double constant, double number) {
  return constant == number || (std::abs(constant - number) == 1 && std::abs(number) > 1) ||
         static_cast<float>(constant) == static_cast<float>(number);
}

// The constant that a comparison always had on one side; which side that is.
struct Constant {
  double value;
  bool is_first;
};
std::optional<Constant> constant_of(const Comparison& c) {
  if (c.with_constant) return Constant{c.constant, false};
  if (c.kind != Comparison::Kind::floats) return std::nullopt;
  if (c.least_other == c.greatest_other) return Constant{c.least_other, false};
  if (c.least == c.greatest) return Constant{c.least, true};
  return std::nullopt;
}

Relations mirrored(Relations r) {
  return static_cast<Relations>((r & less ? greater : none) | (r & equal) |
                                (r & greater ? less : none));
}

// Whether `left COMPARISON right` holds where left and right relate so, and does not elsewhere.
std::optional<bool> outcome(std::string_view comparison, Relations here, Relations elsewhere) {
  if (comparison == "==" || comparison == "!=") {
    const bool only_here = here == equal && (elsewhere & equal) == 0;
    const bool only_elsewhere = elsewhere == equal && (here & equal) == 0;
    if (!only_here && !only_elsewhere) return std::nullopt;
    return only_here == (comparison == "==");
  }
  constexpr unsigned around = less | greater;
  if ((here & elsewhere) != 0 || here == none || elsewhere == none) return std::nullopt;
  if (here == around || elsewhere == around) return std::nullopt;
  return (here < elsewhere) == (comparison[0] == '<');
}

std::optional<bool> outcome(std::string_view part, const Comparison& seen, Relations here,
                            Relations elsewhere) {
  const auto constant = constant_of(seen);
  if (!constant) return std::nullopt;
  const auto relation = relation_in(part);
  if (!relation) {  // a value that is tested for 0
    const bool is_zero_test = constant->value == 0 && part.find_first_of("<>=") == part.npos;
    if (!is_zero_test) return std::nullopt;
    return outcome(part.starts_with('!') ? "==" : "!=", here, elsewhere);
  }
  const auto left = number_in(relation->left), right = number_in(relation->right);
  if (left.has_value() == right.has_value()) return std::nullopt;
  if (!is_about(constant->value, left ? *left : *right)) return std::nullopt;
  const bool swapped = left.has_value() != constant->is_first;
  return outcome(relation->comparison, swapped ? mirrored(here) : here,
                 swapped ? mirrored(elsewhere) : elsewhere);
}

}  // namespace

Relations relations_of(const Comparison& c) {
  return static_cast<Relations>((std::isfinite(c.below) ? less : none) | (c.equal ? equal : none) |
                                (std::isfinite(c.above) ? greater : none));
}

std::string all_that_is_asked(std::string_view line) { return std::string(whole_condition(line)); }

Condition condition_in(std::string_view line, const Comparison& seen, Relations relations,
                       Relations others) {
  const std::string_view whole = whole_condition(line);
  std::vector<Condition> telling;
  for (std::string_view part : parts_of(whole)) {
    const auto is_true = outcome(part, seen, relations, others);
    if (has_balanced_parentheses(part) && is_true) telling.push_back({std::string(part), is_true});
  }
  return telling.size() == 1 ? telling.front() : Condition{std::string(whole), std::nullopt};
}

}  // namespace assay
