// `assay defects`: plants every fault of the catalogue and shows which claims notice it. The faults
// are in a program of their own, assay-defects, which `assay` starts.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <functional>
#include <mutex>
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

// Of one claim about one defect at a time.
Budget budget_of(const DefectsRequest& request) {
  return {.cases = request.cases,
          .seed = request.seed,
          .jobs = 1,
          .watchdog_seconds = 2,
          .worker = {{worker_flag}}};
}

ClaimResult judge(const Defect& defect, const Claim& claim, const Budget& budget) {
  return check({entry_named(defect.name, defect.backend)}, {&claim}, budget).front();
}

// Calls judge_one(i) for each i below `count`, several at a time.
void judge_all(const DefectsRequest& request, std::size_t count,
               const std::function<void(std::size_t)>& judge_one) {
  Lane lane{.threads = request.jobs > 0 ? static_cast<std::size_t>(request.jobs)
                                        : std::max(1u, std::thread::hardware_concurrency())};
  for (std::size_t i = 0; i < count; ++i) lane.items.push_back(i);
  ProgressLine progress(true, static_cast<std::int64_t>(count));
  std::mutex mutex;
  std::int64_t done = 0;
  in_lanes({lane}, [&](std::size_t i, std::size_t) {
    judge_one(i);
    const std::lock_guard lock(mutex);
    progress.update(++done);
  });
}

// The claims that must notice a fault get all cases, and their failures are shrunk. The others get
// a share: what they notice, they mostly notice soon.
KillMatrix judge_matrix(const DefectsRequest& request, const std::vector<Defect>& defects) {
  KillMatrix matrix{.cases_of_others = std::max(1, request.cases / 5)};
  for (const Claim& claim : claims()) {
    const bool applies = std::any_of(defects.begin(), defects.end(), [&](const Defect& defect) {
      return !exemption(claim, entry_named(defect.name, defect.backend));
    });
    if (applies) matrix.claims.push_back(&claim);
  }
  const std::size_t columns = matrix.claims.size();
  for (const Defect& defect : defects)
    matrix.rows.push_back({defect, std::vector<ClaimResult>(columns)});
  judge_all(request, defects.size() * columns, [&](std::size_t i) {
    DefectRow& row = matrix.rows[i / columns];
    const Claim& claim = *matrix.claims[i % columns];
    Budget budget = budget_of(request);
    if (std::string_view(claim.name) != row.defect.claim) {
      budget.cases = matrix.cases_of_others;
      budget.first_failure = true;
    }
    row.results[i % columns] = judge(row.defect, claim, budget);
  });
  return matrix;
}

// Judges each by the claim that it names alone, once for each seed, up to its first failure.
std::vector<SeedsOfDefect> judge_seeds(const DefectsRequest& request,
                                       const std::vector<Defect>& defects) {
  const auto seeds = static_cast<std::size_t>(request.seeds);
  std::vector<SeedsOfDefect> scores;
  for (const Defect& defect : defects) scores.push_back({defect, std::vector<ClaimResult>(seeds)});
  judge_all(request, defects.size() * seeds, [&](std::size_t i) {
    SeedsOfDefect& score = scores[i / seeds];
    Budget budget = budget_of(request);
    budget.seed += i % seeds;
    budget.first_failure = true;
    score.results[i % seeds] = judge(score.defect, claim_named(score.defect.claim), budget);
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
  const KillMatrix matrix = judge_matrix(request, defects);
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
               "how many cases to judge each defect with, other claims with a fifth of them (100)");
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
