#include <fmt/format.h>

#include "cli/check/result_files.h"
#include "cli/out/xml.h"

namespace assay {
namespace {

std::string details(const Failure& failure, const ClaimResult& result) {
  return fmt::format(
      "original: {}\nshrunk: {}\n{}: {}\n{}\n{}replay: {}\n", to_string(failure.original),
      to_string(failure.shrunk), to_string(failure.verdict.status), failure.verdict.reason,
      failure.verdict.diagnosis, failure.verdict.picture, replay_line(result, failure.shrunk));
}

std::string outcome(const Line& line) {
  if (line.standing == Standing::holds) return "";
  if (line.standing == Standing::harness_error)
    return fmt::format("      <error type=\"not_judged\" message=\"{}\"/>\n", escaped(line.reason));
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
  int tests = 0, failures = 0, errors = 0, skipped = 0;
  double seconds = 0;

  void add(const Line& line) {
    const bool failed = line.counts_against(), error = line.standing == Standing::harness_error;
    ++tests;
    failures += failed;
    errors += error;
    skipped += !failed && !error && line.standing != Standing::holds;
    seconds += line.result.seconds;
  }
  std::string attributes() const {
    return fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.3f}\"",
                       tests, failures, errors, skipped, seconds);
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
