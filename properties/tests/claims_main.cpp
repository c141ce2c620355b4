// One GoogleTest test for every variant and claim, named BACKEND.VARIANT.CLAIM as in
// `simt.tiled_32.within_bound`: ASSAY_CASES (100, on a GPU 1000) cases each, drawn from
// ASSAY_SEED (0). The first test of a variant takes the time of all of them that are to run, which
// are judged together: what they share is done once.
//
// With one of these arguments it does something else:
//   --write-ctest FILE      writes the CTest tests that run them
//   --write-resources FILE  writes which GPUs there are, for CTest to spread tests over
//   --gpu-present           tells which GPU there is, and fails where one is required
//
// Exits with 77 if nothing was judged, which CTest shows as skipped.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <optional>
#include <span>

#include "base/errors.h"
#include "base/text.h"
#include "base/whole_file.h"
#include "oracle/gpus.h"
#include "oracle/machine.h"
#include "oracle/tests/run_tests.h"
#include "properties/check.h"

namespace {

using namespace assay;

using assay_test::gpu_is_required;
using assay_test::nothing_judged;
constexpr int unfit_environment = 4;

std::optional<std::uint64_t> from_environment(const char* name, std::uint64_t least,
                                              std::uint64_t most) {
  const char* text = std::getenv(name);
  if (text == nullptr) return std::nullopt;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text, text + std::strlen(text), value);
  if (error != std::errc() || *end != '\0' || value < least || value > most)
    throw BadInput(
        fmt::format("{}='{}': it takes a number from {} to {}", name, text, least, most));
  return value;
}

std::filesystem::path corpus_path() {
  const char* path = std::getenv("ASSAY_CORPUS");
  return path != nullptr ? path : ASSAY_CORPUS_PATH;
}

// What the environment sets for all tests.
struct Settings {
  std::optional<std::uint64_t> cases = from_environment("ASSAY_CASES", 1, 1'000'000);
  std::uint64_t seed = from_environment("ASSAY_SEED", 0, ~std::uint64_t{0}).value_or(0);
  std::vector<CorpusLine> corpus = read_corpus(corpus_path());
};

// Under a debugger or a sanitizer everything is to happen in one process.
WorkerCommand worker_command() {
  if (std::getenv("ASSAY_IN_PROCESS") != nullptr) return {};
  return {{"--worker"}};
}

// What a variant is judged to be on a backend, in every claim that is to run and applies.
class Judged {
 public:
  Judged(const Entry& entry, const Settings& settings) {
    try {
      results_ = check({entry}, claims_to_run(entry), budget(entry, settings), settings.corpus);
    } catch (const Unavailable& error) {
      unavailable_ = error.what();
    }
  }

  const std::optional<std::string>& unavailable() const { return unavailable_; }
  const ClaimResult& in(const Claim& claim) const {
    return *std::find_if(results_.begin(), results_.end(),
                         [&](const ClaimResult& result) { return result.claim == &claim; });
  }

 private:
  static std::vector<const Claim*> claims_to_run(const Entry& entry) {
    const testing::TestSuite& suite = *testing::UnitTest::GetInstance()->current_test_suite();
    std::vector<const Claim*> to_run;
    for (const Claim& claim : claims()) {
      for (int i = 0; i < suite.total_test_count(); ++i) {
        const testing::TestInfo& test = *suite.GetTestInfo(i);
        if (test.should_run() && test.name() == std::string_view(claim.name) &&
            !exemption(claim, entry))
          to_run.push_back(&claim);
      }
    }
    return to_run;
  }

  // On a GPU enough cases that all variants together are judged in more than 200,000, and that
  // starting processes, which takes as long on four GPUs as on one, is a small part of the time.
  static Budget budget(const Entry& entry, const Settings& settings) {
    const std::uint64_t usual_cases = entry.backend == Backend::cuda ? 1000 : 100;
    return {.cases = static_cast<int>(settings.cases.value_or(usual_cases)),
            .seed = settings.seed,
            .jobs = 1,
            .small_alone = std::getenv("ASSAY_SMALL_ALONE") != nullptr,
            .worker = worker_command()};
  }

  std::vector<ClaimResult> results_;
  std::optional<std::string> unavailable_;
};

class ClaimTest : public testing::Test {
 public:
  ClaimTest(const Entry& entry, const Claim& claim, const Settings& settings)
      : entry_(entry), claim_(claim), settings_(settings) {}

  static void TearDownTestSuite() { judged_.reset(); }

  void TestBody() override {
    if (const auto exempt = exemption(claim_, entry_)) GTEST_SKIP() << exempt->reason;
    if (!judged_) judged_.emplace(entry_, settings_);
    if (const auto& why = judged_->unavailable()) return assay_test::skip_without_gpu(*why);
    tell(judged_->in(claim_));
  }

 private:
  void tell(const ClaimResult& result) const {
    switch (result.status()) {
      case ClaimStatus::holds: break;
      case ClaimStatus::exempt: GTEST_SKIP() << result.reason();
      case ClaimStatus::interrupted: FAIL() << result.reason();
      case ClaimStatus::fails:
        report(result, *result.failure);
        keep({&result.broken(), result.failure->shrunk});
        break;
      case ClaimStatus::harness_error: FAIL() << "it could not be judged: " << result.reason();
      case ClaimStatus::not_judged:
      case ClaimStatus::too_few: FAIL() << result.reason();
    }
    fmt::print("{} cases judged, {} elements, worst {:.3g} of {:.3g} gulps\n", result.cases,
               result.elements, result.worst_gulps, result.allowed_gulps);
  }

  // For the next run. That it cannot be kept does not change the verdict.
  void keep(const CorpusLine& line) const {
    try {
      append_to_corpus(corpus_path(), line);
    } catch (const BadInput& error) {
      fmt::print("warning: the failing case is not kept: {}\n", error.what());
    }
  }

  void report(const ClaimResult& result, const Failure& failure) const {
    FAIL() << "'" << result.broken().sentence << "' is not true of " << entry_.variant.name
           << "\n  drawn:  " << to_string(failure.original)
           << "\n  shrunk: " << to_string(failure.shrunk) << "\n  "
           << to_string(failure.verdict.status) << ": " << failure.verdict.reason << "\n  "
           << failure.verdict.diagnosis << "\n"
           << failure.verdict.picture << "  replay: " << replay_line(result, failure.sequence());
  }

  static std::optional<Judged> judged_;  // of the suite that runs

  Entry entry_;
  const Claim& claim_;
  const Settings& settings_;
};
std::optional<Judged> ClaimTest::judged_;

// Claims that take a GPU are no tests of other backends, nor are those that take the PTX machine,
// or either; all other pairs are, if only to be skipped with a reason.
bool is_about_another(const Entry& entry, const Claim& claim) {
  return (claim.takes_gpu && entry.backend != Backend::cuda) ||
         (claim.takes_capture && entry.backend != Backend::cuda && entry.backend != Backend::ptx) ||
         (claim.takes_sight && entry.backend != Backend::ptx);
}
template <class Visit>
void for_each_pair(const Visit& visit) {
  for (const Entry& entry : registered()) {
    for (const Claim& claim : claims()) {
      if (!is_about_another(entry, claim)) visit(entry, claim);
    }
  }
}

std::string names_of(std::span<const Entry> entries, const char* separator) {
  std::vector<std::string> names;
  for (const Entry& entry : entries) names.push_back(entry.variant.name);
  return joined(names, separator);
}

// What CTest reads: one test after the other.
class TestList {
 public:
  explicit TestList(const char* program) : program_(program) {}

  // All claims about a variant share a test, and with it what is done once for all of them.
  void add_on_cpu(const Entry& entry, int place) {
    const std::string name = name_of(entry);
    add(name, filter(name + ".*"), "claim;" + labels_of(entry),
        fmt::format("{} COST {}", ASSAY_NO_GPU, 50 + place));
  }

  // So they do on a GPU, but for those that take gigabytes, which are skipped by themselves where a
  // card has too few.
  void add_on_gpu(const Entry& entry, int place) {
    const std::string name = name_of(entry);
    add(name, filter(fmt::format("{}.*-{}", name, filter_of_large({&entry, 1}))),
        "claim;" + labels_of(entry) + ";gpu", takes_gpu_at_cost(50 + place));
  }

  // Several variants share a test: as each takes as much, all of them are skipped, or none.
  void add_large_on_gpu(std::span<const Entry> entries) {
    add("large." + names_of(entries, ","), filter(filter_of_large(entries)),
        "claim;large;cuda;gpu;" + names_of(entries, ";"), takes_gpu_at_cost(90));
  }
  void add_sanitizer(const std::string& tool, const std::string& test,
                     std::span<const Entry> entries, int cost) {
    add("sanitizer." + test,
        fmt::format("{} {} {} {}", quoted(ASSAY_SANITIZE), quoted(program_), tool,
                    names_of(entries, " ")),
        fmt::format("sanitizer;{};cuda;gpu;{}", tool, names_of(entries, ";")),
        takes_gpu_at_cost(cost));
  }

  // Alone, and so first: beside dozens of starting programs the driver starts three times as
  // slowly.
  void add_gpu_present() {
    add("gpu.present", quoted(program_) + " --gpu-present", "gpu",
        "FIXTURES_SETUP gpu RUN_SERIAL ON");
  }

  const std::string& text() const { return text_; }

 private:
  // CTest starts first what costs most: planted faults that end processes (100), one of them at a
  // time; claims that take gigabytes; the other planted faults (80), then the other claims, of the
  // last variants first, which take the longest; racecheck (58) among these and the rest of the
  // sanitizers after them, so that what ends last is short.
  static std::string takes_gpu_at_cost(int cost) {
    return fmt::format("{} COST {}", ASSAY_ON_GPU, cost);
  }

  static std::string quoted(const std::string& text) { return fmt::format("[=[{}]=]", text); }
  static std::string name_of(const Entry& entry) {
    return fmt::format("{}.{}", to_string(entry.backend), entry.variant.name);
  }
  static std::string labels_of(const Entry& entry) {
    return fmt::format("{};{}", to_string(entry.backend), entry.variant.name);
  }
  static std::string filter_of_large(std::span<const Entry> entries) {
    std::vector<std::string> names;
    for (const Entry& entry : entries) {
      for (const Claim& claim : claims()) {
        if (claim.gibibytes > 0) names.push_back(fmt::format("{}.{}", name_of(entry), claim.name));
      }
    }
    return joined(names, ":");
  }
  std::string filter(const std::string& names) const {
    return fmt::format("{} {}", quoted(program_), quoted("--gtest_filter=" + names));
  }
  void add(const std::string& name, const std::string& command, const std::string& labels,
           const std::string& properties) {
    text_ += fmt::format(
        "add_test({0} {1})\n"
        "set_tests_properties({0} PROPERTIES SKIP_RETURN_CODE {2} TIMEOUT 600 LABELS \"{3}\" "
        "{4})\n",
        quoted(name), command, nothing_judged, labels, properties);
  }

  std::string program_, text_;
};

void write_ctest(const char* program, const char* file) {
  TestList tests(program);
  std::vector<Entry> on_cpu, on_gpu;
  for (const Entry& entry : registered())
    (entry.backend == Backend::cuda ? on_gpu : on_cpu).push_back(entry);
  for (std::size_t i = 0; i < on_cpu.size(); ++i) tests.add_on_cpu(on_cpu[i], static_cast<int>(i));
  for (std::size_t i = 0; i < on_gpu.size(); ++i) tests.add_on_gpu(on_gpu[i], static_cast<int>(i));
  const std::size_t groups = (on_gpu.size() + 3) / 4;  // of four variants, or a little less
  for (std::size_t i = 0; i < groups; ++i) {
    const auto first = on_gpu.begin() + i * on_gpu.size() / groups;
    const std::span group(first, on_gpu.begin() + (i + 1) * on_gpu.size() / groups);
    tests.add_large_on_gpu(group);
    tests.add_sanitizer("racecheck", "racecheck." + names_of(group, ","), group, 58);
  }
  if (!on_gpu.empty()) {
    for (const char* tool : {"memcheck", "initcheck", "synccheck"})
      tests.add_sanitizer(tool, tool, on_gpu, 35);
    tests.add_gpu_present();
  }
  write_whole(file, tests.text());
}

// CTest's resource specification: every GPU takes so many tests at a time. Without a GPU there is
// one in name, so that its tests run, and skip with their reason.
void write_resources(const char* file) {
  std::vector<std::string> gpus;
  for (int device = 0; device < std::max(1, gpu_count()); ++device)
    gpus.push_back(fmt::format(R"({{"id": "{}", "slots": {}}})", device, processes_on_a_gpu));
  write_whole(
      file, fmt::format(R"({{"version": {{"major": 1, "minor": 0}}, "local": [{{"gpus": [{}]}}]}})"
                        "\n",
                        joined(gpus)));
}

// A run that needs a GPU must not turn green because it has none: then this is what fails.
int answer_gpu_present() {
  const std::string why = unavailable(Backend::cuda);
  if (why.empty()) {
    for (const GpuFact& fact : describe_gpus()) fmt::print("{}: {}\n", fact.topic, fact.text);
    return 0;
  }
  fmt::print("{}{}\n", why, gpu_is_required() ? ", and ASSAY_REQUIRE_GPU is set" : "");
  return gpu_is_required() ? unfit_environment : nothing_judged;
}

}  // namespace

int main(int argc, char** argv) {
  keep_to_assigned_gpu();
  forget_cuda_settings();
  try {
    if (argc == 2 && std::string_view(argv[1]) == "--worker") return serve_worker();
    if (argc == 3 && std::string_view(argv[1]) == "--write-ctest") {
      write_ctest(argv[0], argv[2]);
      return 0;
    }
    if (argc == 3 && std::string_view(argv[1]) == "--write-resources") {
      write_resources(argv[2]);
      return 0;
    }
    if (argc == 2 && std::string_view(argv[1]) == "--gpu-present") return answer_gpu_present();
    testing::InitGoogleTest(&argc, argv);  // takes out its own arguments
    if (argc > 1) throw BadInput(fmt::format("there is no argument '{}'", argv[1]));
    const Settings settings;
    for_each_pair([&settings](const Entry& entry, const Claim& claim) {
      const std::string suite = fmt::format("{}.{}", to_string(entry.backend), entry.variant.name);
      testing::RegisterTest(
          suite.c_str(), claim.name, nullptr, nullptr, __FILE__, __LINE__,
          [&claim, &settings, entry] { return new ClaimTest(entry, claim, settings); });
    });
    return assay_test::run_tests();
  } catch (const BadInput& error) {
    std::cerr << "claims_test: " << error.what() << "\n";
    return 2;
  }
}
