#include "properties/judging/repetition.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <set>

#include "oracle/machine.h"
#include "properties/draws/cost.h"
#include "properties/fitting.h"
#include "properties/judges.h"
#include "properties/judging/variables.h"

namespace assay {
namespace {

// On the same operands, with an alpha or a beta of the other sign.
Case with_other_scalar(Case c, const Entry& entry) {
  float& scalar = c.seed % 4 == 1 ? c.alpha : c.beta;
  scalar = scalar == 0 ? 0.5f : -scalar;
  return fitted(c, entry.variant.needs);
}

// On the same operands but for the rows of C, which lie closer or farther apart.
Case with_other_distance(Case c, const Entry& entry) {
  c.ldc.floats = c.ldc.floats == 0 ? entry.variant.needs.ldc_multiple : 0;
  return fitted(c, entry.variant.needs);
}

// Half as large, with other data.
Case smaller_problem(Case c, const Entry& entry) {
  c.m = (c.m + 1) / 2, c.n = (c.n + 1) / 2, c.k = (c.k + 1) / 2;
  ++c.seed;
  return fitted(c, entry.variant.needs);
}

// As many elements, or as long a sum, in another shape: packed, because more rows that lie as far
// apart may take more memory than there is.
Case turned_problem(Case c, const Entry& entry) {
  std::swap(c.seed % 3 == 0 ? c.k : c.m, c.n);
  c.lda = c.ldb = c.ldc = {};
  return fitted(c, entry.variant.needs);
}

// One whose C lies where A does afterwards, as in a chain of products: but then A holds something
// else.
Run chained_before(const Entry& entry, const Case& c) {
  Case first = c;
  first.n = c.k, first.k = std::min<std::int64_t>(c.n, 8);
  first.lda = first.ldb = {}, first.ldc = c.lda;
  std::swap(first.offset.floats[0], first.offset.floats[2]);
  first.seed += 2;
  return {"as the result before", entry, fitted(first, entry.variant.needs), {.exchanged = true}};
}

// What launches one after the other leave in the single element of C, each from the same operands.
// For machines whose memory is the host's: to place C each time would cost more than a launch.
class Launches {
 public:
  Launches(const Entry& entry, const Case& c, const Resources& resources)
      : entry_(entry),
        c_(c),
        resources_(resources),
        machine_(machine_of(entry.backend, resources)),
        operands_(make_operands(c, Placement::guarded, {256, 256, 256})) {
    const auto place = [&](Operand o) {
      return machine_.place(o, operands_[o], Placement::guarded);
    };
    const float *const a = place(Operand::a), *const b = place(Operand::b);
    given_ = {gemm_of(c, a, b, place(Operand::c))};
    Image workspace;
    if (refusal(entry.variant, given_).empty())
      place_workspace(machine_, entry.variant, c, {}, given_, workspace);
  }

  // Nothing if it does not come to its end.
  std::optional<float> element() {
    *given_.c = operands_[Operand::c].row(0)[0];
    if (!refusal(entry_.variant, given_).empty()) return std::nullopt;
    if (machine_.launch(entry_.variant, given_, c_, {.open_to_host = true}, resources_))
      return std::nullopt;
    return *given_.c;
  }

 private:
  const Entry& entry_;
  const Case& c_;
  const Resources& resources_;
  Machine& machine_;
  const Operands operands_;
  Given given_;
};

// A counter may wrap after 65536 launches, or 131072. Where no launch changes a variable of the
// kernel's, or only the first one does, none can.
Verdict judge_often(const Entry& entry, const Case& c, const Resources& resources) {
  constexpr int most_launches = 140'000;
  constexpr double most_nanoseconds = 3e9;
  const auto* const code = entry.variant.launch.address();
  // Which takes seconds: once in a process is enough where it goes well.
  thread_local std::set<const void*> launched_often;
  if (launched_often.contains(code)) return {.judged = 1};
  Launches launches(entry, c, resources);
  const auto first = launches.element();
  const std::uint64_t before = hash_of_kept(entry, resources);
  const auto second = launches.element();
  const Verdict right{.judged = 1};
  if (!first || !second || hash_of_kept(entry, resources) == before) return right;
  const double each = cost_of(c, claim_named("within_bound"), entry, effort_of(entry));
  const int times = static_cast<int>(std::min<double>(most_launches, most_nanoseconds / each));
  for (int i = 2; i < times; ++i) {
    const auto now = launches.element();
    if (now && std::bit_cast<std::uint32_t>(*now) == std::bit_cast<std::uint32_t>(*first)) continue;
    return {.status = TrialStatus::wrong,
            .finding = {Fault::keeps_state},
            .reason = now ? fmt::format("row 0, column 0 is {:.9g} the first time and {:.9g} at "
                                        "launch {} in a row",
                                        *first, *now, i + 1)
                          : fmt::format("launch {} in a row fails", i + 1),
            .diagnosis = "something that it keeps between launches runs out",
            .judged = 1};
  }
  if (times == most_launches) launched_often.insert(code);
  return right;
}

// Memory that a launch takes and never gives back is used up sooner or later. One for each problem,
// or for each of a few streams, is no more than that.
Verdict judge_memory(const Entry& entry, const Case& c, const Resources& resources) {
  constexpr int least = 40, most = 1100;  // a ring that is filled first has 4 to 1024 places
  constexpr double most_nanoseconds = 3e9;
  thread_local int left = 2 * most;  // of a process
  const double cost = cost_of(c, claim_named("within_bound"), entry, effort_of(entry));
  const int times = std::min(left, static_cast<int>(std::min(1.0 * most, most_nanoseconds / cost)));
  const Verdict right{.judged = 1};
  if (c.m == 0 || c.n == 0 || times < least) return right;
  const Machine& machine = machine_of(entry.backend, resources);
  Launches launches(entry, c, resources);
  std::uint64_t grown = 0;
  for (int i = 0; i < times; ++i) {
    left -= i < least ? 0 : 1;
    const std::uint64_t before = machine.kept_bytes();
    if (!launches.element() || machine.kept_bytes() <= before) return right;
    grown = machine.kept_bytes() - before;
  }
  return {.status = TrialStatus::wrong,
          .finding = {Fault::keeps_state},
          .reason = fmt::format("each of {} launches in a row takes more memory of the device, the "
                                "last one {} bytes, and none gives any back",
                                times, grown),
          .diagnosis = "it never frees what it allocates",
          .judged = 1};
}

// What is kept may count the calls of a problem that is large enough, and do something else at one
// of the first: to measure what is faster, say.
Verdict judge_some_times(const Entry& entry, const Case& c, const Resources& resources) {
  constexpr std::size_t times = 24;
  constexpr double least_products = 1 << 20, most_nanoseconds = 3e9;  // the latter of a process
  thread_local double spent = 0;
  const double cost = static_cast<double>(times) * cost_of(c, claim_named("within_bound"), entry);
  if (c.multiply_adds() < least_products || spent + cost > most_nanoseconds) return {.judged = 1};
  spent += cost;
  std::vector<Run> runs = {{"the first time", entry, c}};
  runs.resize(times, {"when it is launched again and again", entry, c});
  return compare_runs(runs, {Fault::keeps_state, "something that it keeps counts its launches"},
                      resources);
}

// Of a single element, as small cases are aimed.
bool is_launched_often(const Entry& entry, const Case& c) {
  return entry.backend != Backend::cuda && c.seed == 0 && c.m == 1 && c.n == 1 && c.k <= 256;
}

}  // namespace

Verdict judge_twice(const Entry& entry, const Case& c, const Resources& resources) {
  const bool keeps = entry.backend != Backend::host && keeps_something(entry, resources);
  const Case smaller = smaller_problem(c, entry);
  constexpr std::array alterations = {Altered::element_of_a, Altered::element_of_b,
                                      Altered::row_of_a,     Altered::column_of_b,
                                      Altered::column_of_a,  Altered::row_of_b};
  Run before{"with other numbers", entry, c};
  const bool on_host = entry.backend == Backend::simt || entry.backend == Backend::host;
  Placement placement = Placement::guarded;
  if (c.seed % 2 == 1 && c.seed / 2 % 4 < 2 && c.seed / 8 % 4 == 3) {
    before.c = with_other_distance(c, entry);
    placement = before.plan.placement = Placement::begins_at_fence;  // whatever C takes
  } else if (c.seed % 2 == 1 && c.seed / 2 % 4 < 2) {
    before.c = with_other_scalar(c, entry);
  } else if (c.seed % 8 == 7 && on_host) {
    before = chained_before(entry, c);
  } else if (c.seed % 2 == 1) {
    before.c.seed += 2;  // so that they begin where these begin
  } else {
    before.plan.altered = alterations[c.seed / 2 % alterations.size()];
  }
  const bool turns = c.seed / 16 % 4 == 3;
  const std::vector<Run> runs = {
      {"half as large, the first time", entry, smaller},
      before,
      {"the first time", entry, c, {.placement = placement, .keeps_workspace = true}},
      turns ? Run{"of another shape", entry, turned_problem(c, entry)}
            : Run{"half as large, the second time", entry, smaller},
      {"the second time", entry, c, {.placement = Placement::elsewhere}}};
  const std::uint64_t kept = machine_of(entry.backend, resources).kept_bytes();
  const Verdict verdict = compare_runs(
      runs, {Fault::not_repeatable, "it depends on where its operands lie in memory"}, resources);
  if (verdict.status != TrialStatus::right) return verdict;
  if (machine_of(entry.backend, resources).kept_bytes() > kept) {
    Verdict leaks = judge_memory(entry, c, resources);
    if (is_failure(leaks)) return leaks;
  }
  if (keeps) {
    Verdict some = judge_some_times(entry, c, resources);
    if (is_failure(some)) return some;
  }
  if (!is_launched_often(entry, c)) return verdict;
  const Verdict often = judge_often(entry, c, resources);
  return is_failure(often) ? often : verdict;
}

}  // namespace assay
