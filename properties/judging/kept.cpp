#include "properties/judging/kept.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "oracle/host/time_for_launches.h"
#include "oracle/machine.h"
#include "oracle/trial.h"
#include "properties/draws/cost.h"
#include "properties/fitting.h"
#include "properties/judges.h"
#include "properties/judging/calls_before.h"
#include "properties/judging/launches_in_a_row.h"
#include "properties/judging/variables.h"

namespace assay {
namespace {

// What takes so long that a process asks it once about a variant, if that goes well.
template <class Judge>
Verdict judge_once(const Entry& entry, std::string_view question, const Judge& judge) {
  thread_local std::set<std::pair<const void*, std::string_view>> gone_well;
  const std::pair asked(static_cast<const void*>(entry.variant.launch.address()), question);
  if (gone_well.contains(asked)) return {.judged = 1};
  Verdict verdict = judge();
  if (!is_failure(verdict)) gone_well.insert(asked);
  return verdict;
}

// Whoever is launched often may come to be computed otherwise.
Case in_two_rows(Case c, const Entry& entry) {
  c.m = 2, c.ldc.floats = 1;
  if (c.beta == 0) c.beta = 0.5f;
  return fitted(c, entry.variant.needs);
}

std::array<std::uint32_t, 2> bits_of(const std::array<float, 2>& elements) {
  return std::bit_cast<std::array<std::uint32_t, 2>>(elements);
}

// A counter may wrap after 65536 launches, or 131072. Where no launch changes a variable of the
// kernel's, or only the first one does, it could only lie on the heap of the host, unseen.
Verdict judge_often(const Entry& entry, const Case& aimed, const Kept& kept,
                    const Resources& resources) {
  constexpr int most_launches = 140'000, most_if_unseen = 5000;
  constexpr double most_nanoseconds = 3e9;
  const auto* const code = entry.variant.launch.address();
  // Which takes seconds: once in a process is enough where it goes well.
  thread_local std::set<const void*> launched_often;
  if (launched_often.contains(code)) return {.judged = 1};
  const Case c = in_two_rows(aimed, entry);
  LaunchesInARow launches(entry, c, resources);
  const auto first = launches.elements();
  const std::uint64_t before = hash_of_kept(entry, resources);
  const auto second = launches.elements();
  const Verdict right{.judged = 1};
  const bool is_seen = hash_of_kept(entry, resources) != before;
  if (!first || !second || !(is_seen || kept.anything)) return right;
  const double each = cost_of(c, claim_named("within_bound"), entry, effort_of(entry));
  const int most = is_seen ? most_launches : most_if_unseen;
  const int times = static_cast<int>(std::min<double>(most, most_nanoseconds / each));
  const TimeForLaunches time;
  for (int i = 2; i < times && !time.is_over(); ++i) {
    const auto now = launches.elements();
    if (now && bits_of(*now) == bits_of(*first)) continue;
    const std::size_t row = now && bits_of(*now)[0] == bits_of(*first)[0] ? 1 : 0;
    return {.status = TrialStatus::wrong,
            .finding = {Fault::keeps_state},
            .reason = now ? fmt::format("of {}, row {}, column 0 is {:.9g} the first time and "
                                        "{:.9g} at launch {} in a row",
                                        to_string(c), row, (*first)[row], (*now)[row], i + 1)
                          : fmt::format("launch {} in a row fails", i + 1),
            .diagnosis = "something that it keeps between launches runs out",
            .judged = 1};
  }
  if (times == most) launched_often.insert(code);
  return right;
}

Verdict leak(std::string words) {
  return {.status = TrialStatus::wrong,
          .finding = {Fault::keeps_state},
          .reason = std::move(words),
          .diagnosis = "it never gives back what it takes",
          .judged = 1};
}

// A ring that is filled first has 4 to 1024 places.
constexpr int least_to_fill_a_ring = 40, most_to_fill_a_ring = 1100;
int launches_to_fill_a_ring(const Entry& entry, const Case& c) {
  constexpr double most_nanoseconds = 3e9;
  const double cost = cost_of(c, claim_named("within_bound"), entry, effort_of(entry));
  return static_cast<int>(std::min(1.0 * most_to_fill_a_ring, most_nanoseconds / cost));
}

// Memory that a launch takes and never gives back is used up sooner or later. One for each problem,
// or for each of a few streams, is no more than that.
Verdict judge_memory(const Entry& entry, const Case& c, const Resources& resources) {
  constexpr int least = least_to_fill_a_ring;
  thread_local int left = 2 * most_to_fill_a_ring;  // of a process
  const int times = std::min(left, launches_to_fill_a_ring(entry, c));
  const Verdict right{.judged = 1};
  if (c.m == 0 || c.n == 0 || times < least) return right;
  const Machine& machine = machine_of(entry.backend, resources);
  LaunchesInARow launches(entry, c, resources);
  const TimeForLaunches time;
  std::uint64_t bytes = 1, handles = 1;  // that the last launch took
  for (int i = 0; i < times && bytes + handles > 0; ++i) {
    if (i >= least && time.is_over()) return right;
    left -= i < least ? 0 : 1;
    const std::uint64_t had_bytes = machine.kept_bytes(), had_handles = machine.kept_handles();
    if (!launches.elements()) return right;
    const auto more = [](std::uint64_t now, std::uint64_t before) {
      return now > before ? now - before : 0;
    };
    bytes = bytes > 0 ? more(machine.kept_bytes(), had_bytes) : 0;
    handles = handles > 0 ? more(machine.kept_handles(), had_handles) : 0;
  }
  if (bytes + handles == 0) return right;
  return leak(
      fmt::format("each of {} launches in a row takes more {}, and none gives any back", times,
                  bytes > 0 ? fmt::format("memory of the device, the last one {} bytes", bytes)
                            : "events, streams, graphs or the like"));
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
  return compare_or_judge(runs, {Fault::keeps_state, "something that it keeps counts its launches"},
                          resources);
}

// Whether other numbers, or another size, leave something else behind.
bool keeps_some_of(const Entry& entry, const Case& c, const Resources& resources) {
  const auto hash_behind = [&](const Case& each) {
    run_trial(entry, each, {}, resources);
    return hash_of_kept(entry, resources);
  };
  const std::uint64_t hash = hash_behind(c);
  Case with_other_numbers = c;
  ++with_other_numbers.seed;
  return hash_behind(with_other_numbers) != hash ||
         hash_behind(with_one_other(c, entry, Other::k)) != hash;
}

// What differs from call to call, one thing at a time: wherever a size is larger than before, and
// as often as a process has the time for.
Verdict judge_one_by_one(const Entry& entry, const Case& c, const Resources& resources) {
  constexpr double launches = launches_with_calls_before, most_nanoseconds = 5e8, of_process = 3e9;
  constexpr std::int64_t larger = 2;
  constexpr std::array sizes = {&Case::m, &Case::n, &Case::k};
  struct Known {
    Case largest;
    bool has_failed = false;  // then a simpler case is looked for
  };
  thread_local double spent = 0;
  thread_local std::map<const void*, Known> all_known;
  auto& [largest, has_failed] = all_known[entry.variant.launch.address()];
  const double cost = launches * cost_of(c, claim_named("within_bound"), entry);
  const bool is_larger = std::any_of(sizes.begin(), sizes.end(), [&](const auto size) {
    return c.*size >= larger * std::max<std::int64_t>(1, largest.*size);
  });
  const bool is_affordable = has_failed || (is_larger && spent + cost <= of_process);
  if (!is_affordable || cost > most_nanoseconds) return {.judged = 1};
  for (const auto size : sizes) largest.*size = std::max(largest.*size, c.*size);
  if (!keeps_some_of(entry, c, resources)) return {.judged = 1};
  spent += cost;
  Verdict verdict = judge_calls_before(entry, c, resources);
  has_failed |= is_failure(verdict);
  return verdict;
}

// Whoever has met the same matrix often enough may believe that it stays, and look no more; nor for
// infinities.
Verdict judge_change_after_many(const Entry& entry, int gap, const Resources& resources) {
  constexpr double least = 100, most = 1100, most_nanoseconds = 1e10;
  constexpr std::int64_t side = 257;  // so that B has more than 2^16 elements
  Case c{.m = 1, .n = side, .k = side};
  c.ldb.floats = gap;
  c = fitted(c, entry.variant.needs);
  const Verdict right{.judged = 1};
  LaunchesInARow launches(entry, c, resources);
  const std::uint64_t before = hash_of_kept(entry, resources);
  const auto element = [&]() -> std::optional<float> {
    const auto elements = launches.elements();
    return elements ? std::optional((*elements)[0]) : std::nullopt;
  };
  const auto with_old_b = element();
  if (hash_of_kept(entry, resources) == before || !with_old_b) return right;
  const double affordable =
      most_nanoseconds / cost_of(c, claim_named("within_bound"), entry, effort_of(entry));
  if (affordable < least) return right;
  const int times = static_cast<int>(std::min(most, affordable)) | 1;  // for what takes turns
  struct Change {
    float of_b;
    const char* words;
    std::optional<float> wanted = std::nullopt;
  };
  float& of_b = launches.first_of_b();
  const auto element_with = [&, old = of_b](const Change& change) {
    of_b = change.of_b;
    const auto got = element();
    of_b = old;
    return got;
  };
  std::array changes = {Change{-of_b, "B of an earlier launch is multiplied"},
                        Change{std::numeric_limits<float>::infinity(),
                               "after launches without an infinity it no longer looks for one"}};
  for (Change& change : changes) change.wanted = element_with(change);
  for (int i = 0; i < times; ++i)
    if (!launches.elements()) return right;
  for (const Change& change : changes) {
    const auto wanted = change.wanted, got = element_with(change);
    if (!wanted || !got) return right;
    const bool is_same =
        std::bit_cast<std::uint32_t>(*wanted) == std::bit_cast<std::uint32_t>(*got);
    const bool is_near = std::abs(*got - *wanted) <= std::abs(*got - *with_old_b);
    if (is_same || (is_near && !entry.variant.deterministic)) continue;
    return {.status = TrialStatus::wrong,
            .finding = {Fault::keeps_state},
            .reason = fmt::format("after {} launches with the same B, row 0, column 0 is {:.9g} "
                                  "where B is another one, and {:.9g} without those launches",
                                  times, *got, *wanted),
            .diagnosis = is_near ? "something that it keeps counts its launches" : change.words,
            .judged = 1};
  }
  return right;
}

// Whoever compares a part of a matrix with what was kept of it sees no change in the rest.
Verdict judge_change_in_large(const Entry& entry, const Resources& resources) {
  constexpr std::int64_t side = 1500;  // its middle lies beyond 2^20 elements
  const auto judge = [&](const Case& drawn, Altered altered, const char* words) -> Verdict {
    const Case c = fitted(drawn, entry.variant.needs);
    const Verdict before = run_trial(entry, c, {.altered = altered}, resources);
    if (before.status != TrialStatus::right) return {.judged = 1};  // which is another fault
    Verdict behind = run_trial(entry, c, {}, resources);
    if (behind.status != TrialStatus::wrong) return behind;
    behind.finding = {Fault::keeps_state};
    behind.reason += fmt::format(" (behind one with another element, both of {})", to_string(c));
    behind.diagnosis = words;
    return behind;
  };
  Verdict of_a = judge({.m = side, .n = 1, .k = side}, Altered::element_of_a,
                       "A of an earlier launch is multiplied");
  if (is_failure(of_a)) return of_a;
  return judge({.m = 1, .n = side, .k = side}, Altered::element_of_b,
               "B of an earlier launch is multiplied");
}

// Whoever finds a plan again by sizes that are packed into one number takes one problem for another
// where a size is larger than its bits, or digits. So two whose sizes give the same number, whether
// they are added or joined bit by bit.
Verdict judge_packed_sizes(const Entry& entry, const Resources& resources) {
  constexpr double most_nanoseconds = 6e9;
  constexpr std::array sizes = {&Case::m, &Case::n, &Case::k};
  constexpr std::array<std::int64_t, 4> all_digits = {10'000, 1 << 21, 1 << 16, 1 << 20};
  const Effort effort = effort_of(entry);
  double left = most_nanoseconds;
  const auto run = [&](const Case& c) {
    left -= cost_of(c, claim_named("within_bound"), entry, effort);
    return run_trial(entry, c, {}, resources);
  };
  const auto hash_behind = [&](std::int64_t m) {
    run(fitted({.m = m, .n = 2, .k = 2}, entry.variant.needs));
    return hash_of_kept(entry, resources);
  };
  static_cast<void>(hash_behind(2));
  if (hash_behind(3) == hash_behind(6)) return {.judged = 1};  // it keeps nothing of problems
  const auto is_accepted = [&](const Case& c) { return fitted(c, entry.variant.needs) == c; };
  std::int64_t another = 3;  // each pair has a size of its own: the last ones are kept, too
  for (const std::int64_t digits : all_digits)
    for (const auto low : sizes)
      for (const auto high : sizes) {
        if (low == high || left < 0) continue;
        Case c{.m = 3, .n = 3, .k = 3}, before = c;
        before.*low = another += 2, before.*high = 3;
        c.*low = before.*low + digits, c.*high = 2;
        Case alone = c;  // which no other gives the number of
        alone.*low += 1;
        if (!is_accepted(c) || !is_accepted(before) || is_failure(run(before))) continue;
        Verdict behind = run(c);
        if (!is_failure(behind) || is_failure(run(alone))) continue;
        behind.finding = {Fault::keeps_state};
        behind.reason += fmt::format(", with {} behind {}", to_string(c), to_string(before));
        behind.diagnosis = "what it keeps for an earlier problem is taken for that of this one";
        return behind;
      }
  return {.judged = 1};
}

// Of a single element, as small cases are aimed.
bool is_launched_often(const Entry& entry, const Case& c) {
  return entry.backend != Backend::cuda && c.seed == 0 && c.m == 1 && c.n == 1 && c.k <= 256;
}

}  // namespace

Verdict judge_what_is_kept(const Entry& entry, const Case& c, const Kept& kept,
                           const Resources& resources) {
  if (kept.grew)
    if (Verdict leaks = judge_memory(entry, c, resources); is_failure(leaks)) return leaks;
  if (kept.anything)
    if (Verdict some = judge_some_times(entry, c, resources); is_failure(some)) return some;
  if (kept.anything)
    if (Verdict one = judge_one_by_one(entry, c, resources); is_failure(one)) return one;
  if (kept.anything && entry.backend != Backend::cuda) {
    const auto judge = [&] { return judge_packed_sizes(entry, resources); };
    if (Verdict packed = judge_once(entry, "packed", judge); is_failure(packed)) return packed;
  }
  const bool may_keep_copies = entry.backend == Backend::cuda
                                   ? kept.anything
                                   : machine_of(entry.backend, resources).kept_bytes() > 0;
  if (may_keep_copies) {
    Verdict large =
        judge_once(entry, "large", [&] { return judge_change_in_large(entry, resources); });
    if (is_failure(large)) return large;
  }
  if (entry.backend != Backend::cuda)
    for (const auto& [gap, words] : {std::pair(0, "many"), std::pair(3, "many, with gaps")}) {
      const auto judge = [&, gap = gap] { return judge_change_after_many(entry, gap, resources); };
      if (Verdict many = judge_once(entry, words, judge); is_failure(many)) return many;
    }
  if (!entry.variant.deterministic) return {.judged = 1};  // the rest goes by bits
  return is_launched_often(entry, c) ? judge_often(entry, c, kept, resources)
                                     : Verdict{.judged = 1};
}

Verdict judge_what_failures_keep(const Entry& entry, const Case& c, const Plan& plan,
                                 const Resources& resources) {
  const Machine& machine = machine_of(entry.backend, resources);
  const auto keeps_more = [&] {
    const std::uint64_t bytes = machine.kept_bytes(), handles = machine.kept_handles();
    run_trial(entry, c, plan, resources);
    return machine.kept_bytes() > bytes || machine.kept_handles() > handles;
  };
  const Verdict right{.judged = 1};
  if (!keeps_more()) return right;
  const int times = launches_to_fill_a_ring(entry, c);
  if (times < least_to_fill_a_ring) return right;
  const TimeForLaunches time;
  for (int i = 1; i < times; ++i)
    if (time.is_over() || !keeps_more()) return right;
  return leak(
      fmt::format("each of {} launches in a row that fail keeps memory of the device, or "
                  "events, streams, graphs and the like",
                  times));
}

}  // namespace assay
