#include <fmt/format.h>

#include "base/printable.h"
#include "report/verdict.h"
#include "report/views.h"
#include "report/words.h"

namespace assay::report {
namespace {

constexpr std::size_t most_bytes = 60'000;
constexpr std::string_view left_out =
    "\nThe rest is left out here, for a comment holds no more: see the page of `assay report "
    "--html`.\n";

// Text that Markdown shows as it is, on one line.
std::string plain(const std::string& text) {
  std::string safe;
  for (const char c : printable(shortened(text, 1, 400))) {
    if (c == '<') {
      safe += "&lt;";
    } else if (c == '&') {
      safe += "&amp;";
    } else {
      if (std::string_view("\\`*_[]|~#@").find(c) != std::string_view::npos) safe += '\\';
      safe += c;
    }
  }
  return safe;
}

// Whole lines, fenced so that no line of theirs ends the fence.
std::string fenced(const std::string& text) {
  std::string fence = "```";
  while (text.find(fence) != text.npos) fence += '`';
  std::string body;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    body += printable(rest.substr(0, end)) + "\n";
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return fmt::format("{0}\n{1}{0}\n", fence, body);
}

std::string item_of(const Attention& item) {
  std::string text = fmt::format("- **{}** {}\n", to_string(item.kind), plain(item.what));
  std::string details;
  for (const std::string& one : item.details) details += one + "\n";
  details += shortened(item.picture, 20, 1500);
  if (!details.empty() && !details.ends_with('\n')) details += '\n';
  if (!item.repeat.empty()) details += fmt::format("repeat: {}\n", item.repeat);
  if (details.empty()) return text;
  return fmt::format("{}\n<details><summary>details</summary>\n\n{}\n</details>\n\n", text,
                     fenced(shortened(details, 30, 3000)));
}

}  // namespace

std::string markdown_of(const Report& report) {
  const Verdict verdict = verdict_of(report);
  std::string text = fmt::format("### assay: {}\n\n{}\n\n", verdict.word, plain(verdict.sentence));
  const auto add = [&](const std::string& more) {
    if (text.size() + more.size() + left_out.size() < most_bytes) {
      text += more;
      return true;
    }
    text += left_out;
    return false;
  };
  for (const Attention& item : verdict.attention)
    if (!add(item_of(item))) return text;
  std::string untested;
  for (const auto& [what, files] : report.not_tested)
    untested += fmt::format("- {}\n", plain(what));
  if (!untested.empty() &&
      !add(fmt::format("\n<details><summary>What was not tested</summary>\n\n{}\n</details>\n",
                       untested)))
    return text;
  std::string sources =
      "\n<details><summary>Results</summary>\n\n| file | end | commit |\n|---|---|---|\n";
  for (const Source& source : report.sources)
    sources += fmt::format("| {} | {} | {} |\n", plain(source.file), plain(source.summary),
                           plain(source.commit.substr(0, 12)));
  add(sources + "\n</details>\n");
  return text;
}

}  // namespace assay::report
