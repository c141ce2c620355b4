// `assay check`: judges variants, prints the verdict and keeps the failing cases.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>

#include "base/errors.h"
#include "base/project.h"
#include "base/whole_file.h"
#include "cli/check/check_json.h"
#include "cli/check/check_junit.h"
#include "cli/check/check_report.h"
#include "cli/check/check_text.h"
#include "cli/check/watch.h"
#include "cli/command.h"
#include "cli/kernel_files.h"
#include "cli/out/table.h"
#include "cli/worker_flags.h"

namespace assay {
namespace {

struct CheckRequest {
  std::vector<std::string> variants, backends, claims;  // empty means all
  KernelFiles files;
  int cases = usual_cases;
  std::vector<std::string> case_texts;
  std::uint64_t seed = 0;
  int jobs = 0;       // 0 means one for each core
  int watchdog = 10;  // seconds
  std::string json, junit;
  std::string corpus;
  bool no_corpus = false;
  bool paths_required = false;
  bool first_failure = false;
  bool watch = false;
  bool quiet = false;
  std::vector<std::string> arguments;
};

constexpr const char* examples =
    "A case gives m, n and k, and whatever differs from the defaults (alpha=1 beta=0, no gaps, no\n"
    "offsets):\n"
    "  \"m=1001 n=513 k=777 alpha=1.5 beta=-0.5 ldb=+3 ldc=+1 offset=1,0,2 fill=uniform seed=42\"\n"
    "  fill: uniform, exact, small_ints, identity, one_hot, special, scaled, balanced,\n"
    "  largest, patterned\n"
    "\n"
    "Examples:\n"
    "  assay check                                    every claim about every variant\n"
    "  assay check tiled_32 --cases 1000 --seed 7     one variant, more cases, other cases\n"
    "  assay check path/to/mine.cu                    the variants of a file that lies anywhere\n"
    "  assay check --library ./libmine.so             those that a library says it has\n"
    "  assay check naive --claim beta_zero --case \"m=1 n=2 k=3\"\n"
    "\n"
    "With ASSAY_REQUIRE_GPU=1 in the environment, a machine without a GPU is an error (exit 4).\n"
    "\n"
    "Exit status: 0 everything that was judged passed, 1 a variant is wrong,\n"
    "             2 bad usage or bad input, 4 the environment is unfit,\n"
    "             77 nothing could be judged here\n";

void add(std::vector<std::string>& all, const std::vector<std::string>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

// How many cases will be judged; what a claim exempts costs nothing.
std::int64_t expected_cases(const Selection& selection, const Budget& budget) {
  std::int64_t cases = 0;
  for (const Entry& entry : selection.entries) {
    for (const Claim* claim : selection.claims) {
      if (!exemption(*claim, entry)) cases += std::min(budget.cases, claim->most_cases);
    }
  }
  return cases;
}

std::vector<ClaimResult> judge(const CheckReport& report, const std::vector<CorpusLine>& corpus,
                               bool quiet) {
  const auto& [entries, claims, left_out] = report.selection;
  if (!report.given.empty()) return check_case(entries, claims, report.given, report.budget);
  ProgressLine progress(!quiet, expected_cases(report.selection, report.budget));
  return check(entries, claims, report.budget, corpus,
               [&](int done, int) { progress.update(done); });
}

void run_trials(CheckReport& report, const std::vector<CorpusLine>& corpus, bool quiet) {
  const auto start = std::chrono::steady_clock::now();
  report.results = judge(report, corpus, quiet);
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Keeps the failing cases for the next run. That they cannot be kept does not change the verdict.
std::string keep_failures(const CheckReport& report, const std::string& path,
                          std::vector<CorpusLine> known) {
  int added = 0;
  const auto keep = [&](const CorpusLine& line) {
    if (std::find(known.begin(), known.end(), line) != known.end()) return;
    append_to_corpus(path, line);
    known.push_back(line);
    ++added;
  };
  try {
    for (const ClaimResult& result : report.results) {
      if (result.status() != ClaimStatus::fails) continue;
      for (const Case& c : result.failure->sequence()) keep({&result.broken(), c});
    }
  } catch (const BadInput& error) {
    Screen(stderr).print(
        fmt::format("assay: warning: failing cases are not kept: {}\n", error.what()));
  }
  if (added == 0) return "";
  const std::string near = std::filesystem::path(path).lexically_proximate(
      std::filesystem::current_path());  // as one would type it here
  return fmt::format("kept for the next run: {} in {}\n", plural(added, "failing case"),
                     near.starts_with("..") ? path : near);
}

// What fails in somebody's own file is kept beside its libraries, not among what failed here.
std::string corpus_of(const CheckRequest& request, const Opened& opened) {
  const bool own = !opened.libraries.empty() && request.corpus == project().corpus;
  return own ? (opened.cache / "corpus.txt").string() : request.corpus;
}

[[noreturn]] void watch(const CheckRequest& request) {
  const auto files = [&] { return request.files.behind(request.variants, request.backends); };
  if (files().empty()) throw BadInput("--watch judges a file at each save: name a FILE");
  std::vector<std::string> arguments = request.arguments;
  std::erase(arguments, "--watch");
  run_at_each_save(arguments, files);
}

ExitCode run(const CheckRequest& request) {
  if (request.watch) watch(request);
  std::vector<std::string> variants = request.variants;
  KernelFiles files = request.files;
  files.load_seconds = request.watchdog;
  files.is_watched = true;
  const Opened opened = files.open(variants, request.backends);
  CheckReport report;
  report.arguments = request.arguments;
  report.budget = {.cases = request.cases,
                   .seed = request.seed,
                   .jobs = request.jobs,
                   .watchdog_seconds = static_cast<double>(request.watchdog),
                   .first_failure = request.first_failure,
                   .worker = {{worker_flag}}};
  if (!files.model.empty()) report.budget.worker.arguments.push_back(model_flag + files.model);
  add(report.budget.worker.arguments, opened.libraries);
  for (const std::string& text : request.case_texts) report.given.push_back(parse_case(text));
  report.paths_required = request.paths_required;
  report.model = files.model;
  report.selection = select(variants, request.backends, request.claims, !report.given.empty());
  add(report.selection.left_out, opened.left_out);
  report.backends = backend_states();
  refuse_missing_gpu();

  const OutputFile json(request.json), junit(request.junit);
  const bool use_corpus = !request.no_corpus && report.given.empty();
  const std::string corpus_file = corpus_of(request, opened);
  const auto corpus = use_corpus ? read_corpus(corpus_file) : std::vector<CorpusLine>{};

  const Screen screen = screen_beside({request.json, request.junit});
  const bool can_run = !report.selection.entries.empty();
  if (!request.quiet && can_run) screen.print(header_text(report));
  run_trials(report, corpus, request.quiet);
  const Conclusion conclusion = conclude(report);

  if (!request.quiet) screen.print(table_text(report, screen));
  screen.print(failures_text(report, screen));
  const std::string kept = use_corpus ? keep_failures(report, corpus_file, corpus) : "";
  screen.print(
      fmt::format("{}{}{}", request.quiet ? "" : "\n", kept, conclusion_text(conclusion, screen)));

  if (json) json.write(json_of(report, conclusion));
  if (junit) junit.write(junit_of(report));
  return conclusion.code;
}

void add_flags(Flags& flags, CheckRequest& request) {
  flags.words("VARIANT", request.variants,
              "names from `assay list`, or FILEs of kernels such as mine.cu, and names of variants "
              "in them; default: all");
  request.files.add_flags(flags);
  request.files.add_library_flag(flags);
  request.files.add_model_flag(flags);
  flags.texts("--backend", request.backends, "NAME",
              "simt, ptx, cuda or host; repeat for more; default: all");
  flags.texts("--claim", request.claims, "NAME", "a property; repeat for more; default: all");
  flags.number("--cases", request.cases, 1, 1000000,
               "how many cases to judge for each claim about each variant (100)");
  flags.texts("--case", request.case_texts, "TEXT",
              "judge exactly this case, by the claims about accepted problems; repeat for a "
              "sequence in one process");
  flags.number("--seed", request.seed, "seed of the cases that are drawn (0)");
  flags.number("--jobs", request.jobs, 0, 1024,
               "how many claims to try at once (one per core; at most two on a GPU)");
  flags.number(
      "--watchdog", request.watchdog, 1, 3600,
      "seconds after which a kernel on a GPU counts as hung, or a file as it is loaded (10)");
  flags.result("--json", request.json, "write the results as JSON; - is stdout");
  flags.result("--junit", request.junit, "write the results as JUnit XML; - is stdout");
  flags.corpus(request.corpus);
  flags.flag("--no-corpus", request.no_corpus, "neither try past failures nor keep new ones");
  flags.flag("--first-failure", request.first_failure,
             "stop at the first claim that fails, and do not shrink its case");
  flags.flag("--paths-required", request.paths_required,
             "fail where a comparison of a variant never went both ways");
  flags.flag("--watch", request.watch, "judge a FILE again at each save, until Ctrl-C");
  flags.flag("--quiet", request.quiet, "print only failures and the verdict");
  flags.keep_all(request.arguments);
  flags.exclude("--cases", "--case",
                "--cases is about cases that are drawn, and "
                "--case gives the only one: leave one of them out");
  flags.exclude("--seed", "--case",
                "--seed is about cases that are drawn, and "
                "--case gives the only one: leave one of them out");
  flags.footer(examples);
}

}  // namespace

Command check_command() {
  return command("check", "judges variants: right or wrong", add_flags, run);
}

}  // namespace assay
