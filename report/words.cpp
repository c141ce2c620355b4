#include "report/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/text.h"

namespace assay::report {

std::string grouped(std::int64_t count) {
  std::string text = fmt::to_string(count);
  for (int at = static_cast<int>(text.size()) - 3; at > (count < 0); at -= 3)
    text.insert(static_cast<std::size_t>(at), ",");
  return text;
}

std::string counted(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", grouped(count), noun, count == 1 ? "" : "s");
}

std::string verb(std::int64_t count) { return count == 1 ? "is" : "are"; }

std::string magnitude(std::int64_t count) {
  double value = static_cast<double>(count);
  if (value < 10'000) return fmt::to_string(count);
  for (const char* unit : {"k", "M", "G"}) {
    value /= 1000;
    if (value < 999.5) return fmt::format("{} {}", digits(value), unit);
  }
  return fmt::format("{} T", digits(value / 1000));
}

std::string digits(double value) {
  if (!std::isfinite(value)) return "-";
  const double size = std::abs(value);
  if (size >= 1e6 || (size > 0 && size < 1e-3)) return fmt::format("{:.2e}", value);
  return fmt::format("{:.{}f}", value, size < 9.995 ? 2 : size < 99.95 ? 1 : 0);
}

std::string change_of(double ratio) {
  if (!std::isfinite(ratio)) return "-";
  const double percent = 100 * (ratio - 1);
  return fmt::format("{:+.2f} %", std::abs(percent) < 0.005 ? 0 : percent);
}

std::int64_t size_in(const std::string& text_of_case, const std::string& name) {
  const std::size_t at = (" " + text_of_case).find(" " + name + "=");
  return at == text_of_case.npos ? 0 : std::atoll(text_of_case.c_str() + at + name.size() + 1);
}

std::string some_of(const std::vector<std::string>& names, std::size_t most) {
  if (names.size() <= most) return joined(names);
  return fmt::format("{} and {} more",
                     joined({names.begin(), names.begin() + static_cast<std::ptrdiff_t>(most)}),
                     names.size() - most);
}

std::string shortened(std::string_view text, std::size_t lines, std::size_t bytes) {
  std::size_t end = 0, kept = 0;
  while (end < text.size() && kept < lines) {
    const std::size_t next =
        std::min(text.size(), text.find('\n', end) + (text.find('\n', end) != text.npos));
    if (next > bytes) {
      if (kept > 0) break;
      for (end = bytes; end > 0 && (text[end] & 0xc0) == 0x80;) --end;  // no half character
      break;
    }
    end = next;
    ++kept;
  }
  if (end == text.size()) return std::string(text);
  std::string_view rest = text.substr(end);
  const auto left = std::count(rest.begin(), rest.end(), '\n') + (rest.ends_with('\n') ? 0 : 1);
  return fmt::format("{}{}… {} and {} left out here: the result has all of it\n",
                     text.substr(0, end), end > 0 && text[end - 1] == '\n' ? "" : "\n",
                     counted(left, "line"),
                     counted(static_cast<std::int64_t>(rest.size()), "byte"));
}

}  // namespace assay::report
