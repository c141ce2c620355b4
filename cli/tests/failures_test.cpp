// What reports say of ten faults of the catalogue, kept in docs/failures.md: the report alone,
// without the source, must name each. `failures_test --write FILE` makes that page.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <regex>

#include "cli/check/check_json.h"
#include "cli/worker_flags.h"
#include "properties/check.h"
#include "properties/defects/catalogue.h"
#include "properties/worker.h"
#include "report/report.h"
#include "report/views.h"

namespace assay::tests {
namespace {

using testing::HasSubstr;

struct Fault {
  const char* name;     // in the catalogue
  const char* planted;  // in words, for the page
  const char* named;    // what a report must say of it
};
void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.name; }

constexpr std::array ten_faults = {
    Fault{"dropped_k_tail", "The last, partial slice of k is left out.",
          "every element: the contribution of k = 16 is missing"},
    Fault{"floor_divided_grid", "The grid has m / T blocks, rounded down.",
          "every element: they were never written"},
    Fault{"first_barrier_missing", "There is no barrier between loading a tile and reading it.",
          "it depends on the order of threads: a barrier is missing"},
    Fault{"beta_zero_reads_c", "C is multiplied by beta where beta is 0 too.",
          "from C before it was written, although beta is 0"},
    Fault{"alpha_and_beta_swapped", "Alpha stands where beta belongs.",
          "alpha and beta were swapped"},
    Fault{"lda_for_ldb", "The distance between rows of A is taken for that of B.", "of B"},
    Fault{"writes_into_the_gap", "A write goes beyond the last column.",
          "wrote to the 1st float past the last element of C"},
    Fault{"unguarded_tail_load", "A load is not guarded at the end of k.",
          "read from memory that is not its own: the 1st float past the last element of A"},
    Fault{"tf32_inputs", "The inputs are rounded to TF32.", "the inputs were rounded to TF32"},
    Fault{"alpha_zero_forgets_beta", "Where nothing is to be multiplied, the kernel returns.",
          "C is still to become beta * C"}};

std::string replaced(const std::string& text, const std::string& pattern, const std::string& by) {
  return std::regex_replace(text, std::regex(pattern), by);
}

// The comment on a change that has the fault in a kernel of another name.
std::string comment_on(const Fault& fault) {
  const auto defect = std::ranges::find_if(catalogue(), [&](const Defect& one) {
    return std::string_view(one.name) == fault.name && one.backend == Backend::simt;
  });
  if (defect == catalogue().end()) return fmt::format("{} is not planted here", fault.name);
  CheckReport check_report;
  check_report.arguments = {"assay", "check"};
  check_report.budget = {.jobs = 1, .worker = {{worker_flag}}};
  const Entry entry = entry_named(defect->name, defect->backend);
  const Claim& claim = claim_named(defect->claim);
  check_report.selection = {{entry}, {&claim}, {}};
  check_report.results = check({entry}, {&claim}, check_report.budget);
  const std::string json = json_of(check_report, conclude(check_report));
  const std::string text =
      report::markdown_of(report::merged({report::result_in(json, "check.json")}));
  const std::string plain_name = replaced(fault.name, "_", R"(\\?_)");
  return replaced(replaced(replaced(text, plain_name, "mine"), R"([^ (]*/planted/)", "planted/"),
                  R"(\| [0-9a-f]{12} \|)", "| |");
}

std::string page() {
  std::string text = fmt::format(
      "# What reports say of ten faults\n\nEach is planted in a kernel that is right, `mine`. What "
      "follows is what `assay report --md` writes of\n`assay check mine`, for a comment on the "
      "change, from kernels of g++ {}; `failures_test --write docs/failures.md`\nmakes this "
      "page.\n",
      __GNUC__);
  for (const Fault& fault : ten_faults)
    text += fmt::format("\n## {}\n\n{}", fault.planted, comment_on(fault));
  return text;
}

std::string documented() {
  std::ifstream file(ASSAY_FAILURES);
  return {std::istreambuf_iterator<char>(file), {}};
}

class Report : public testing::TestWithParam<Fault> {};

TEST_P(Report, NamesTheFault) {
  const std::string comment = comment_on(GetParam());
  EXPECT_THAT(replaced(comment, R"(\\)", ""), HasSubstr(GetParam().named));
  EXPECT_THAT(comment, HasSubstr("repeat: assay check mine"));
  const std::string kept = documented();
  if (kept.find(fmt::format("g++ {};", __GNUC__)) == kept.npos) return;  // of another compiler
  EXPECT_THAT(kept, HasSubstr(fmt::format("\n## {}\n\n{}", GetParam().planted, comment)))
      << "docs/failures.md is stale: run failures_test --write docs/failures.md";
}

INSTANTIATE_TEST_SUITE_P(Of, Report, testing::ValuesIn(ten_faults),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace assay::tests

int main(int argc, char** argv) {
  const std::string_view first = argc > 1 ? argv[1] : "";
  if (first == assay::worker_flag) return assay::serve_worker();
  if (first == "--write" && argc == 3) {
    std::ofstream(argv[2]) << assay::tests::page();
    return 0;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
