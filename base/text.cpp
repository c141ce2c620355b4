#include "base/text.h"

#include <fmt/format.h>

#include <chrono>

namespace assay {

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string text;
  for (const std::string& word : words) {
    if (&word != &words.front()) text += between;
    text += word;
  }
  return text;
}

std::string ordinal(std::int64_t number) {
  const bool teen = number / 10 % 10 == 1;
  const std::int64_t last = teen ? 0 : number % 10;
  return fmt::format("{}{}", number, last == 1 ? "st" : last == 2 ? "nd" : last == 3 ? "rd" : "th");
}

std::string today() {
  using namespace std::chrono;
  const year_month_day date(floor<days>(system_clock::now()));
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
}

}  // namespace assay
