#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "cli/result_files.h"

namespace assay {
namespace {

// The length of the UTF-8 character at the beginning of `text`; 0 if there is none that XML allows.
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
  if (length == 0 || first > 0xf4 || text.size() < length) return 0;
  std::uint32_t code = first & (0x7fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3fu);
  }
  const bool overlong = code < (length == 3 ? 0x800u : length == 4 ? 0x10000u : 0x80u);
  const bool forbidden =
      (code >= 0xd800 && code < 0xe000) || code == 0xfffe || code == 0xffff || code > 0x10ffff;
  return overlong || forbidden ? 0 : length;
}

// Text for an attribute or between tags. What XML cannot hold, even escaped, becomes \x1b.
std::string escaped(std::string_view text) {
  std::string xml;
  while (!text.empty()) {
    const char c = text.front();
    std::size_t taken = 1;
    switch (c) {
      case '&':
        xml += "&amp;";
        break;
      case '<':
        xml += "&lt;";
        break;
      case '>':
        xml += "&gt;";
        break;
      case '"':
        xml += "&quot;";
        break;
      case '\n':
        xml += "&#10;";
        break;
      case '\t':
        xml += "&#9;";
        break;
      default:
        if (const std::size_t length = character_length(text); length > 0) {
          xml += text.substr(0, taken = length);
        } else {
          xml += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        }
    }
    text.remove_prefix(taken);
  }
  return xml;
}

// Text that keeps its lines as they are.
std::string escaped_lines(const std::string& text) {
  std::string xml;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    xml += escaped(std::string_view(text).substr(begin, end - begin));
    if (end < text.size()) xml += '\n';
    begin = end + 1;
  }
  return xml;
}

std::string details(const Failure& failure, const ClaimResult& result) {
  return fmt::format(
      "original: {}\nshrunk: {}\n{}: {}\n{}\n{}replay: {}\n", to_string(failure.original),
      to_string(failure.shrunk), to_string(failure.verdict.status), failure.verdict.reason,
      failure.verdict.diagnosis, failure.verdict.picture, replay_line(result, failure.shrunk));
}

std::string outcome(const Line& line) {
  if (line.standing == Standing::holds) return "";
  if (!line.counts_against())
    return fmt::format("      <skipped message=\"{}\"/>\n", escaped(line.reason));
  if (!line.result.failure) {
    return fmt::format("      <failure type=\"not_judged\" message=\"{}\"/>\n",
                       escaped(line.reason));
  }
  const Failure& failure = *line.result.failure;
  return fmt::format("      <failure type=\"{}\" message=\"{}\">{}</failure>\n",
                     to_string(failure.verdict.status), escaped(line.reason),
                     escaped_lines(details(failure, line.result)));
}

struct Counts {
  int tests = 0, failures = 0, skipped = 0;
  double seconds = 0;

  void add(const Line& line) {
    ++tests;
    failures += line.counts_against();
    skipped += !line.counts_against() && line.standing != Standing::holds;
    seconds += line.result.seconds;
  }
  std::string attributes() const {
    return fmt::format("tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\" time=\"{:.3f}\"",
                       tests, failures, skipped, seconds);
  }
};

}  // namespace

std::string junit_of(const CheckReport& report) {
  Counts all;
  std::string suites;
  const auto& lines = report.lines;
  for (auto begin = lines.begin(); begin != lines.end();) {
    const Entry& entry = begin->result.entry;
    const std::string suite =
        escaped(fmt::format("{}.{}", entry.variant.name, to_string(entry.backend)));
    Counts counts;
    std::string cases;
    for (; begin != lines.end() && same_entry(begin->result.entry, entry); ++begin) {
      counts.add(*begin);
      all.add(*begin);
      const std::string inside = outcome(*begin);
      cases += fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{:.3f}\"{}\n", suite,
                           escaped(begin->result.claim->name), begin->result.seconds,
                           inside.empty() ? "/>" : ">");
      if (!inside.empty()) cases += inside + "    </testcase>\n";
    }
    suites += fmt::format("  <testsuite name=\"{}\" {}>\n{}  </testsuite>\n", suite,
                          counts.attributes(), cases);
  }
  all.seconds = report.seconds;
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuites name=\"assay check\" {}>\n{}</testsuites>\n",
      all.attributes(), suites);
}

}  // namespace assay
