// `assay defects`: plants every fault of the catalogue and shows which claims notice it. The faults
// are in a program of their own, assay-defects, which `assay` starts.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <thread>

#include "base/errors.h"
#include "base/suggestion.h"
#include "base/whole_file.h"
#include "cli/command.h"
#include "cli/power/defects_text.h"
#include "cli/worker_flags.h"
#include "oracle/machine.h"
#include "properties/check.h"
#include "properties/lanes.h"

namespace assay {
namespace {

struct DefectsRequest {
  std::vector<std::string> defects;
  int cases = 100, jobs = 0, seeds = 0;
  std::uint64_t seed = 0;
  std::string json, markdown;
  std::vector<std::string> arguments;
};

// Does not return.
void become_program_with_defects(const std::vector<std::string>& arguments) {
  const auto program =
      std::filesystem::read_symlink("/proc/self/exe").replace_filename("assay-defects");
  std::vector<std::string> words = arguments;
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  execv(program.c_str(), argv.data());
  throw UnfitEnvironment(
      fmt::format("the planted faults are in {}, which cannot be started: {}; build its target, "
                  "assay-defects",
                  program.string(), std::strerror(errno)));
}

std::vector<Defect> chosen(const std::vector<std::string>& named) {
  std::vector<std::string> names;
  for (const Defect& defect : catalogue()) names.emplace_back(defect.name);
  for (const std::string& name : named) {
    if (std::find(names.begin(), names.end(), name) == names.end())
      throw BadInput(fmt::format("there is no defect '{}'{}", name, suggestion(name, names)));
  }
  std::vector<Defect> defects;
  for (const Defect& defect : catalogue()) {
    const bool wanted =
        named.empty() || std::find(named.begin(), named.end(), defect.name) != named.end();
    if (wanted && *defect.not_planted != '\0')
      throw BadInput(fmt::format("{}: {}", defect.name, defect.not_planted));
    const bool about_gpu_only =
        claim_named(defect.claim).takes_gpu && defect.backend != Backend::cuda;
    if (wanted && !about_gpu_only && unavailable(defect.backend).empty()) defects.push_back(defect);
  }
  return defects;
}

KillMatrix judge(const DefectsRequest& request, const std::vector<Defect>& defects) {
  KillMatrix matrix;
  std::vector<Entry> entries;
  for (const Defect& defect : defects) entries.push_back(entry_named(defect.name, defect.backend));
  for (const Claim& claim : claims()) {
    const bool applies = std::any_of(entries.begin(), entries.end(),
                                     [&](const Entry& entry) { return !exemption(claim, entry); });
    if (applies) matrix.claims.push_back(&claim);
  }
  const Budget budget{.cases = request.cases,
                      .seed = request.seed,
                      .jobs = request.jobs,
                      .watchdog_seconds = 2,
                      .worker = {{worker_flag}}};
  ProgressLine progress(true);
  const auto results = check(entries, matrix.claims, budget, {}, [&](int done, int expected) {
    progress.update("", std::min(0.99, static_cast<double>(done) / expected));
  });
  auto next = results.begin();
  for (const Defect& defect : defects) {
    const auto end = next + static_cast<std::ptrdiff_t>(matrix.claims.size());
    matrix.rows.push_back({defect, {next, end}});
    next = end;
  }
  return matrix;
}

// Judges each by the claim that it names alone, once for each seed, up to its first failure.
std::vector<SeedsOfDefect> judge_seeds(const DefectsRequest& request,
                                       const std::vector<Defect>& defects) {
  const auto seeds = static_cast<std::size_t>(request.seeds);
  std::vector<SeedsOfDefect> scores;
  for (const Defect& defect : defects) scores.push_back({defect, std::vector<ClaimResult>(seeds)});
  Lane lane{.threads = request.jobs > 0 ? static_cast<std::size_t>(request.jobs)
                                        : std::max(1u, std::thread::hardware_concurrency())};
  for (std::size_t i = 0; i < scores.size() * seeds; ++i) lane.items.push_back(i);
  in_lanes({lane}, [&](std::size_t i, std::size_t) {
    SeedsOfDefect& score = scores[i / seeds];
    const Budget budget{.cases = request.cases,
                        .seed = request.seed + i % seeds,
                        .watchdog_seconds = 2,
                        .first_failure = true,
                        .worker = {{worker_flag}}};
    score.results[i % seeds] = check({entry_named(score.defect.name, score.defect.backend)},
                                     {&claim_named(score.defect.claim)}, budget)
                                   .front();
  });
  return scores;
}

ExitCode run_seeds(const DefectsRequest& request, const std::vector<Defect>& defects,
                   const Screen& screen) {
  const std::vector<SeedsOfDefect> scores = judge_seeds(request, defects);
  const Conclusion conclusion = conclude(scores, request.seed);
  screen.print(seeds_text(scores, request.seed, screen) + conclusion_text(conclusion, screen));
  return conclusion.code;
}

ExitCode run(const DefectsRequest& request) {
  if (catalogue().empty()) become_program_with_defects(request.arguments);
  const std::vector<Defect> defects = chosen(request.defects);
  const OutputFile json(request.json), markdown(request.markdown);
  const Screen screen = screen_beside({request.json, request.markdown});
  if (defects.empty()) {
    screen.print(conclusion_text({ExitCode::nothing_judged, "NOTHING JUDGED",
                                  "no backend of these defects can be used here", "assay doctor"},
                                 screen));
    return ExitCode::nothing_judged;
  }
  if (request.seeds > 0) return run_seeds(request, defects, screen);
  const KillMatrix matrix = judge(request, defects);
  const Conclusion conclusion = conclude(matrix);
  screen.print(matrix_text(matrix, screen) + conclusion_text(conclusion, screen));
  if (markdown) {
    markdown.write(matrix_markdown(
        matrix, fmt::format("assay defects --cases {} --seed {}", request.cases, request.seed)));
  }
  if (json) json.write(json_of(matrix, request.arguments, conclusion));
  return conclusion.code;
}

void add_flags(Flags& flags, DefectsRequest& request) {
  flags.words("DEFECT", request.defects, "names of the catalogue; default: all");
  flags.number("--cases", request.cases, 1, 1000000,
               "how many cases to judge for each claim about each defect (100)");
  flags.number("--seed", request.seed, "seed of the cases that are drawn (0)");
  flags.number("--seeds", request.seeds, 1, 1000,
               "judge by the claims that must notice alone, for this many seeds from --seed on");
  flags.number("--jobs", request.jobs, 0, 1024, "how many claims to try at once (one per core)");
  flags.result("--json", request.json, "write the matrix as JSON; - is stdout");
  flags.result("--md", request.markdown, "write the matrix as Markdown; - is stdout");
  for (const char* result : {"--json", "--md"})
    flags.exclude("--seeds", result, "the kill matrix is of one seed");
  flags.keep_all(request.arguments);
  flags.footer(
      "Examples:\n"
      "  assay defects                                   all of them: some minutes\n"
      "  assay defects dropped_k_tail --seed 7\n"
      "  assay defects --seeds 20                        each by the claim that must notice it\n"
      "\n"
      "Exit status: 0 each is killed by the claim that must notice it, 1 one is not,\n"
      "             2 bad usage or bad input, 4 the catalogue is not built,\n"
      "             77 nothing could be judged here\n");
}

}  // namespace

Command defects_command() {
  return command("defects", "plants known faults, and shows which claims notice them", add_flags,
                 run);
}

}  // namespace assay
