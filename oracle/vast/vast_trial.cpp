#include "oracle/vast/vast_trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <new>

#include "base/silence.h"
#include "kernels/registry.h"
#include "oracle/host/device_loan.h"
#include "oracle/host/ptx_verdict.h"
#include "oracle/plan.h"
#include "oracle/reference.h"
#include "oracle/vast/vast_operand.h"
#include "oracle/watched/sparse.h"
#include "ptx/runtime/observe.h"

namespace assay {
namespace {

constexpr std::int64_t products_run_whole = 1 << 25;       // a small grid may prepare a large one
constexpr double seconds = 0.5, seconds_at_long_k = 0.05;  // which few blocks come to the end of
constexpr std::int64_t long_k = 1 << 16;
// With more, the time would be over before anything is judged.
constexpr double products = 6e7;
constexpr std::uint64_t most_blocks = 24;
constexpr int most_launches = 1000;
constexpr std::int64_t most_elements = 4096, most_products = 1 << 20;  // to judge

struct Problem {
  VastOperand a, b, c;
  Given given;
  std::unique_ptr<Sparse> workspace;

  explicit Problem(const Case& x)
      : a(x.m, x.k, x.k + x.lda.floats, x.offset.floats[0]),
        b(x.k, x.n, x.n + x.ldb.floats, x.offset.floats[1]),
        c(x.m, x.n, x.n + x.ldc.floats, x.offset.floats[2]),
        given{gemm_of(x, a.first(), b.first(), c.first())} {}

  ByOperand<Placed> placed() const {
    const auto of = [](const VastOperand& o) {
      return Placed{reinterpret_cast<const std::byte*>(o.first()), o.rows(), o.columns(), o.ld()};
    };
    return {of(a), of(b), of(c), workspace ? workspace->placed() : Placed{}};
  }
};

struct Ran {
  ptx::Observation seen;
  LaunchFailure failure;
};

Ran run(const Entry& entry, const Case& c, Problem& problem) {
  constexpr std::array orders = {ptx::Order::forward, ptx::Order::reverse, ptx::Order::shuffled};
  const DeviceLoan loan(problem.placed(), c.beta != 0);
  const Silence silence;  // of host code, about launches that are ended here
  const auto threads =
      static_cast<std::uint64_t>(products_run_whole / std::max<std::int64_t>(8, c.k));
  Ran ran;
  ran.seen = ptx::observe(
      {.settings = {.order = orders[c.seed % orders.size()],
                    .seed = c.seed,
                    .cpu_seconds = c.k < long_k ? seconds : seconds_at_long_k,
                    .most_blocks = blocks_worth(products, most_blocks, c, entry.variant.tile),
                    .threads_run_whole = threads},
       .most_launches = most_launches},
      [&] { ran.failure = failure_of_launch(entry.variant, problem.given, nullptr); });
  return ran;
}

struct Wanted {
  double value = 0, gauge = 0;
};
Wanted wanted_at(const Problem& problem, const VastOperand::Element& e) {
  const Gemm& g = problem.given;
  Wanted wanted;
  for (std::int64_t p = 0; p < g.k; ++p) {
    const double product = double{problem.a.at(e.row, p)} * problem.b.at(p, e.column);
    wanted.value += product;
    wanted.gauge += std::abs(product);
  }
  return {wanted.value * g.alpha, wanted.gauge * std::abs(g.alpha)};
}

Verdict wrong(std::string reason) {
  return {.status = TrialStatus::wrong,
          .finding = {Fault::wrong_values},
          .reason = std::move(reason),
          .judged = 1};
}

// C was 0 before, whatever beta is.
Verdict judge_elements(const Entry& entry, const Case& c, const Problem& problem) {
  Verdict verdict{.allowed_gulps = allowed_gulps(entry.variant.arithmetic, c)};
  const auto most =
      std::clamp(most_products / std::max<std::int64_t>(1, c.k), std::int64_t{64}, most_elements);
  for (const auto& e : problem.c.changed(static_cast<std::size_t>(most))) {
    const Wanted wanted = wanted_at(problem, e);
    const double got = problem.c.at(e.row, e.column);
    const double gulps = std::abs(got - wanted.value) / (0x1p-24 * wanted.gauge);
    ++verdict.judged;
    if (!(gulps <= verdict.allowed_gulps))
      return wrong(fmt::format(
          "row {}, column {} is wrong: got {:.9g}, wanted {:.9g}, off by {:.3g} gulps of {:.3g} "
          "allowed",
          e.row, e.column, got, wanted.value, gulps, verdict.allowed_gulps));
    if (!verdict.worst || gulps > verdict.worst->error_gulps)
      verdict.worst = Element{.row = e.row,
                              .column = e.column,
                              .got = static_cast<float>(got),
                              .wanted = wanted.value,
                              .error_gulps = gulps};
  }
  return verdict;
}

// Where every block of every grid was run: a wrong count of them may have left out some of C.
Verdict judge_corners(const Problem& problem) {
  const std::int64_t m = problem.c.rows(), n = problem.c.columns();
  for (const std::int64_t row : {std::int64_t{0}, m / 2, m - 1})
    for (const std::int64_t column : {std::int64_t{0}, n / 2, n - 1})
      if (problem.c.at(row, column) == 0)
        return wrong(fmt::format("row {}, column {} was never written", row, column));
  return {.judged = 1};
}

// Whether some elements were never written, as few blocks tell: no other one writes more than each
// of these. What host code copies is not counted: then nothing is known.
std::optional<Verdict> judge_count(const Problem& problem, const ptx::Observation& seen) {
  const auto wanted = static_cast<std::uint64_t>(problem.c.rows() * problem.c.columns());
  const bool is_known = !seen.is_no_part && seen.launches == seen.kernels;
  if (!is_known || seen.most_stored >= wanted) return std::nullopt;
  return wrong(
      fmt::format("of {} elements of C at most {} are written, if no block writes more than "
                  "those that were run",
                  wanted, seen.most_stored));
}

Verdict says_nothing(std::string why) {
  return {.status = TrialStatus::refused, .reason = std::move(why)};
}

Verdict judge(const Entry& entry, const Case& c, const Problem& problem, const Ran& ran) {
  const ptx::Observation& seen = ran.seen;
  const bool depends = seen.is_part && seen.is_no_part;
  if (seen.finding && seen.finding->fault == ptx::Fault::never_ends)
    return says_nothing("it takes too long at such sizes to be run here");
  if (seen.finding && (!depends || ptx::stands_alone(seen.finding->fault)))
    return verdict_on(*seen.finding, problem.placed(), {Sparse::fence, 0});
  const bool is_misled = ran.failure && seen.is_part && !seen.told_error;
  if (is_misled) return says_nothing("its host code goes by blocks that were left out");
  if (ran.failure && seen.lacked_memory) return says_nothing("the device has not that much memory");
  if (ran.failure) return *ran.failure;
  if (depends) return says_nothing("its blocks depend on those that were left out");
  Verdict verdict = judge_elements(entry, c, problem);
  const bool leaves_zeros = c.k == 0 || c.alpha == 0;  // of which all are right
  if (leaves_zeros && seen.most_stored != 0) verdict.judged = 1;
  if (seen.is_part && verdict.judged == 0)
    return says_nothing("the blocks that were run write nothing");
  if (is_failure(verdict)) return verdict;
  if (!seen.is_part && !leaves_zeros)
    if (const Verdict corners = judge_corners(problem); is_failure(corners)) return corners;
  return judge_count(problem, seen).value_or(verdict);
}

}  // namespace

std::int64_t memory_of_launch(const Entry& entry, const Case& c) try {
  Problem problem(c);
  if (!refusal(entry.variant, problem.given).empty()) return 0;
  problem.workspace = give_workspace(entry.variant, problem.given);
  const DeviceLoan loan(problem.placed(), c.beta != 0);
  const Silence silence;  // where there is not that much memory
  const ptx::Observation seen =
      ptx::observe({.most_launches = most_launches, .runs_nothing = true},
                   [&] { failure_of_launch(entry.variant, problem.given, nullptr); });
  return std::max<std::int64_t>(0, workspace_of(entry.variant, problem.given)) +
         static_cast<std::int64_t>(std::max(seen.allocated, ptx::kept_bytes()));
} catch (const std::bad_alloc&) {
  return 0;
}

Verdict run_vast_trial(const Entry& entry, const Case& c) try {
  Problem problem(c);
  if (std::string reason = refusal(entry.variant, problem.given); !reason.empty())
    return {.status = TrialStatus::refused, .reason = std::move(reason)};
  problem.a.fill(), problem.b.fill();
  problem.workspace = give_workspace(entry.variant, problem.given);
  if (workspace_of(entry.variant, problem.given) < 0)
    return wrong(fmt::format("it asks for a workspace of {} bytes",
                             workspace_of(entry.variant, problem.given)));
  return judge(entry, c, problem, run(entry, c, problem));
} catch (const std::bad_alloc&) {
  return says_nothing("this system has no addresses for operands of that size");
}

}  // namespace assay
