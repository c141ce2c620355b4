#include "properties/confirming.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "properties/shrinking.h"

namespace assay {
namespace {

using Cases = std::vector<Case>;

constexpr std::size_t longest_to_shrink = 3;  // a longer sequence takes too long

// The last case failed after the others, with this verdict. It need not fail again: a race decides
// anew each time.
struct FailedSequence {
  Cases cases;
  Verdict verdict;
};

class Confirmation {
 public:
  Confirmation(const Failure& failure, double watchdog_seconds,
               const std::function<Cases(const Case&)>& smaller_cases, const JudgeAfresh& judge,
               const Allowance& left)
      : failure_(failure),
        watchdog_seconds_(watchdog_seconds),
        smaller_cases_(smaller_cases),
        judge_(judge),
        left_(left) {}

  std::optional<Verdict> failing(const Cases& sequence) const {
    Verdict verdict = judge_(sequence, watchdog_seconds_);
    if (!is_failure(verdict)) return std::nullopt;
    return verdict;
  }

  Failure shrunk_afresh(const Verdict& of_original) const {
    return shrink(
        failure_.original, of_original, watchdog_seconds_, smaller_cases_,
        [&](const Case& c, double watchdog_seconds) { return judge_({c}, watchdog_seconds); },
        left_);
  }

  // A short one, if any is found.
  std::optional<FailedSequence> sequence(const Cases& judged_before) const {
    const Case &shrunk = failure_.shrunk, &original = failure_.original;
    for (const Cases& pair : {Cases{shrunk, shrunk}, {original, shrunk}, {original, original}}) {
      if (const auto verdict = failing(pair)) return FailedSequence{pair, *verdict};
    }
    Cases all = judged_before;
    all.push_back(original);
    const auto verdict = failing(all);
    if (!verdict) return std::nullopt;
    return without_what_it_does_not_take({std::move(all), *verdict});
  }

  // Of each case of a sequence the smallest with which its last one still fails. Where one of them
  // has become smaller, so may the others.
  Failure shrunk_in_sequence(FailedSequence found) const {
    Failure failure = failure_;
    failure.verdict = std::move(found.verdict);
    Cases cases = std::move(found.cases);
    std::size_t as_they_are = 0;  // in a row, of those looked at last
    for (std::size_t i = cases.size();
         as_they_are < cases.size() && cases.size() <= longest_to_shrink;) {
      i = (i == 0 ? cases.size() : i) - 1;
      const Failure smaller = shrink(
          cases[i], failure.verdict, watchdog_seconds_, smaller_cases_,
          [&, i](const Case& c, double watchdog_seconds) {
            Cases changed = cases;
            changed[i] = c;
            return judge_(changed, watchdog_seconds);
          },
          left_);
      as_they_are = smaller.shrink_steps == 0 ? as_they_are + 1 : 1;
      cases[i] = smaller.shrunk, failure.verdict = smaller.verdict;
      failure.shrink_steps += smaller.shrink_steps;
      failure.shrunk_fully &= smaller.shrunk_fully;
    }
    failure.shrunk = cases.back();
    cases.pop_back();
    failure.before = std::move(cases);
    return failure;
  }

 private:
  // Leaves out ever smaller stretches as long as the last case fails.
  FailedSequence without_what_it_does_not_take(FailedSequence found) const {
    Cases& cases = found.cases;
    for (std::size_t length = cases.size() / 2; length > 0; length /= 2) {
      for (std::size_t at = 0; at + length < cases.size() && !left_.is_spent();) {
        Cases fewer = cases;
        const auto first = fewer.begin() + static_cast<std::ptrdiff_t>(at);
        fewer.erase(first, first + static_cast<std::ptrdiff_t>(length));
        if (auto verdict = failing(fewer)) {
          found = {std::move(fewer), *std::move(verdict)};
        } else {
          at += length;
        }
      }
    }
    return found;
  }

  const Failure& failure_;
  const double watchdog_seconds_;
  const std::function<Cases(const Case&)>& smaller_cases_;
  const JudgeAfresh& judge_;
  const Allowance& left_;
};

}  // namespace

Failure confirmed(const Failure& failure, const Cases& judged_before, double watchdog_seconds,
                  const std::function<Cases(const Case&)>& smaller_cases, const JudgeAfresh& judge,
                  const Allowance& left) {
  const Confirmation confirmation(failure, watchdog_seconds, smaller_cases, judge, left);
  Failure certain = failure;
  const Verdict alone = judge({failure.shrunk}, watchdog_seconds);
  if (alone.status == TrialStatus::harness_error) return failure;
  if (is_failure(alone)) {
    certain.verdict = alone;
    return certain;
  }
  if (const auto verdict = confirmation.failing({failure.original}))
    return confirmation.shrunk_afresh(*verdict);

  auto sequence = confirmation.sequence(judged_before);
  certain.reproduced = sequence.has_value();
  if (sequence) certain = confirmation.shrunk_in_sequence(*std::move(sequence));
  certain.shrunk_fully &= !left.is_spent();
  Verdict& verdict = certain.verdict;
  verdict.finding = {certain.reproduced ? Fault::keeps_state : Fault::not_repeatable};
  const char* const why =
      certain.reproduced
          ? "something is kept between calls: this case passes in a fresh process"
          : "in a fresh process it passes, also after the cases that were judged before it";
  verdict.diagnosis =
      verdict.diagnosis.empty() ? why : fmt::format("{}; here, {}", why, verdict.diagnosis);
  return certain;
}

}  // namespace assay
