#include "properties/judging/no_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/scramble.h"
#include "oracle/machine.h"
#include "properties/claims.h"
#include "properties/draws/cost.h"
#include "properties/fitting.h"
#include "properties/judging/parts.h"

namespace assay {
namespace {

// Which a buffer that was kept from the call before is too small for.
Case larger_problem(Case c, const Entry& entry) {
  c.m *= 2, c.n *= 2;
  return fitted(c, entry.variant.needs);
}

bool is_cheap(const Case& c, const Entry& entry) {
  constexpr double most_nanoseconds = 5e7;
  return cost_of(c, claim_named("within_bound"), entry) <= most_nanoseconds;
}

// What a launch leaves that has so much memory, and what the next one does, which has enough.
// Nothing, where no allocation failed.
std::optional<Verdict> judge_with(int allocations, const Entry& entry, const Case& c,
                                  const Resources& resources) {
  Verdict verdict = run_trial(entry, c, {.most_allocations = allocations}, resources);
  if (machine_of(entry.backend, resources).allocations() <= allocations) return std::nullopt;
  if (is_failure(verdict)) {
    verdict.reason += ", where the device has no memory left";
    return verdict;
  }
  Verdict after = run_trial(entry, c, {}, resources);
  if (!is_failure(after) || after.finding.fault == Fault::launch_failed)
    return Verdict{.judged = 1};
  after.finding = {Fault::keeps_state};
  after.diagnosis = "it keeps something of a launch that failed";
  after.reason += ", after a launch for which the device had no memory";
  return after;
}

}  // namespace

Verdict judge_first_launch(const Entry& entry, const Case& c, const Resources& resources) {
  constexpr int granted = 1, most_tried = 30;  // allocations; launches
  thread_local int left = most_tried;
  const Verdict right{.judged = 1};
  if (entry.backend != Backend::ptx || left-- <= 0) return right;
  const auto verdict = judge_with(granted, entry, c, resources);
  if (verdict) left = 0;
  return verdict.value_or(right);
}

Verdict judge_without_memory(const Entry& entry, const Case& c, const Resources& resources) {
  constexpr int most_cases = 16, most_granted = 3;  // of a process; allocations
  thread_local int judged = 0;
  const Verdict right{.judged = 1};
  if (judged >= most_cases || !is_cheap(c, entry)) return right;
  if (run_trial(entry, c, {}, resources).status != TrialStatus::right) return right;
  Case tried = c;
  for (int granted = 0; granted < most_granted && is_cheap(tried, entry); ++granted) {
    auto verdict = judge_with(granted, entry, tried, resources);
    if (!verdict) {
      tried = larger_problem(tried, entry);
      verdict = judge_with(granted, entry, tried, resources);
    }
    if (!verdict) return right;
    if (is_failure(*verdict)) return *verdict;
    if (granted == 0) ++judged;
  }
  return right;
}

bool is_large_without_memory(const Entry& entry, const Case& c) {
  constexpr double many_products = 0x1p32;
  return entry.backend == Backend::ptx && c.multiply_adds() >= many_products;
}

Case large_without_memory(std::uint64_t seed) {
  constexpr std::int64_t large = 2048;
  const auto beside = [&](std::uint64_t random) {
    return large + 1 + static_cast<std::int64_t>(scramble(seed + random) % 16);
  };
  return {.m = beside(1), .n = beside(2), .k = beside(3), .seed = seed};
}

Verdict judge_large_without_memory(const Entry& entry, const Case& c, const Resources& resources) {
  constexpr int most_granted = 3;
  const Machine& machine = machine_of(entry.backend, resources);
  run_dry_trial(entry, c, resources);  // which tells how many allocations there are
  const int granted = std::min(most_granted, machine.allocations());
  const std::uint64_t blocks = blocks_of_large(c, entry.variant);
  for (int i = 0; i < granted; ++i) {
    Verdict verdict =
        run_trial(entry, c, {.most_blocks = blocks, .most_allocations = i}, resources);
    if (!is_failure(verdict)) continue;
    verdict.reason += ", where the device has no memory left";
    return verdict;
  }
  return {.judged = 1};
}

Verdict judge_told_of_little_memory(const Entry& entry, const Case& c, const Resources& resources) {
  constexpr int most_cases = 8;  // of a process
  thread_local int judged = 0;
  const Verdict right{.judged = 1};
  if (judged++ >= most_cases) return right;
  const auto judge_told = [&](const Case& tried, std::uint64_t free) {
    if (!is_cheap(tried, entry)) return right;
    Verdict verdict = run_trial(entry, tried, {.free_memory = free}, resources);
    verdict.reason += fmt::format(", where cudaMemGetInfo tells of {} free bytes", free);
    return verdict;
  };
  std::vector<std::pair<Case, std::uint64_t>> all;
  for (const std::uint64_t free : {0, 1 << 14, 1 << 20})
    for (const Case& tried : {c, larger_problem(c, entry)}) all.emplace_back(tried, free);
  // Some such share as a kernel may give an operand lets it hold a part of that.
  for (const std::int64_t elements : {c.m * c.k, c.k * c.n, c.m * c.n})
    for (const std::uint64_t bytes_of_each : {3, 12})
      all.emplace_back(c, bytes_of_each * static_cast<std::uint64_t>(elements));
  for (const auto& [tried, free] : all)
    if (const Verdict verdict = judge_told(tried, free); is_failure(verdict)) return verdict;
  return right;
}

}  // namespace assay
