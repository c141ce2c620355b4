#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>

#include "base/errors.h"
#include "base/whole_file.h"
#include "cli/check/check_text.h"
#include "cli/check/conclusion.h"
#include "cli/check/result_files.h"
#include "cli/commands.h"
#include "cli/out/table.h"

namespace assay {
namespace {

// How many cases will be judged; what a claim exempts costs nothing.
std::int64_t expected_cases(const Selection& selection, const Budget& budget) {
  std::int64_t cases = 0;
  for (const Entry& entry : selection.entries) {
    for (const Claim* claim : selection.claims) {
      if (exemption(*claim, entry).empty()) cases += std::min(budget.cases, claim->most_cases);
    }
  }
  return cases;
}

std::vector<ClaimResult> judge(const CheckReport& report, const std::vector<CorpusLine>& corpus,
                               bool quiet) {
  const auto& [entries, claims, left_out] = report.selection;
  if (report.given) return check_case(entries, claims, *report.given, report.budget);
  ProgressLine progress(!quiet, expected_cases(report.selection, report.budget));
  return check(entries, claims, report.budget, corpus,
               [&](int done, int) { progress.update(done); });
}

void run_trials(CheckReport& report, const std::vector<CorpusLine>& corpus, bool quiet) {
  const auto start = std::chrono::steady_clock::now();
  for (ClaimResult& result : judge(report, corpus, quiet))
    report.lines.push_back(stand(std::move(result), report.budget, report.given.has_value()));
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Keeps the failing cases for the next run. That they cannot be kept does not change the verdict.
std::string keep_failures(const CheckReport& report, const std::string& path,
                          std::vector<CorpusLine> known) {
  int added = 0;
  for (const Line& line : report.lines) {
    if (line.standing != Standing::fails) continue;
    const CorpusLine failure{line.result.claim, line.result.failure->shrunk};
    if (std::find(known.begin(), known.end(), failure) != known.end()) continue;
    try {
      append_to_corpus(path, failure);
    } catch (const BadInput& error) {
      Screen(stderr).print(
          fmt::format("assay: warning: failing cases are not kept: {}\n", error.what()));
      break;
    }
    known.push_back(failure);
    ++added;
  }
  if (added == 0) return "";
  const std::string near = std::filesystem::path(path).lexically_proximate(
      std::filesystem::current_path());  // as one would type it here
  return fmt::format("kept for the next run: {} in {}\n", plural(added, "failing case"),
                     near.starts_with("..") ? path : near);
}

}  // namespace

ExitCode run_check(const CheckOptions& options) {
  CheckReport report;
  report.arguments = options.arguments;
  report.budget = {.cases = options.cases,
                   .seed = options.seed,
                   .jobs = options.jobs,
                   .watchdog_seconds = static_cast<double>(options.watchdog),
                   .worker = {{worker_flag}}};
  if (options.case_text) report.given = parse_case(*options.case_text);
  report.selection =
      select(options.variants, options.backends, options.claims, report.given.has_value());
  report.backends = backend_states();
  insist_on_required_gpu();

  const OutputFile json(options.json), junit(options.junit);
  const bool use_corpus = options.use_corpus && !report.given;
  const auto corpus = use_corpus ? read_corpus(options.corpus) : std::vector<CorpusLine>{};

  const Screen screen = screen_beside({options.json, options.junit});
  const bool can_run = !report.selection.entries.empty();
  if (!options.quiet && can_run) screen.print(header_text(report));
  run_trials(report, corpus, options.quiet);
  const Conclusion conclusion = conclude(report);

  if (!options.quiet) screen.print(table_text(report, screen));
  screen.print(failures_text(report, screen));
  const std::string kept = use_corpus ? keep_failures(report, options.corpus, corpus) : "";
  screen.print(
      fmt::format("{}{}{}", options.quiet ? "" : "\n", kept, conclusion_text(conclusion, screen)));

  if (json) json.write(json_of(report, conclusion));
  if (junit) junit.write(junit_of(report));
  return conclusion.code;
}

}  // namespace assay
