#include "regress/decide/decide.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "regress/decide/states.h"

namespace assay {
namespace {

// What one or two batches show of a cell, or why they show nothing.
struct Measured {
  int processes = 0;
  Summary step, anchor, control;  // log-ratios of head to baseline, anchor and twin
  std::string fault;
  bool has_no_baseline = false;  // which is the fault
  std::string left_out;          // why some of the processes were not usable
  std::optional<TwoStates> states;
};

using Batches = std::vector<const std::vector<Replicate>*>;

// Whether any process got so far as to time an arm against head.
bool was_timed(const Batches& batches, std::optional<double> Replicate::*arm) {
  return std::any_of(batches.begin(), batches.end(), [&](const auto* batch) {
    return std::any_of(batch->begin(), batch->end(),
                       [&](const Replicate& r) { return (r.*arm).has_value(); });
  });
}

// Only a process that timed all arms counts, the control among them.
Measured measure(const Batches& batches, int planned, const DecisionRule& rule) {
  Measured m;
  std::vector<double> step, anchor, control;
  const bool has_baseline = was_timed(batches, &Replicate::to_baseline);
  const bool has_anchor = was_timed(batches, &Replicate::to_anchor);
  bool finite = true, sound = false;
  for (const auto* batch : batches) {
    for (const Replicate& r : *batch) {
      ++m.processes;
      sound = sound || r.fault.empty();
      const char* missing = !r.to_baseline               ? "the baseline was not timed"
                            : !r.to_twin                 ? "the control was not timed"
                            : has_anchor && !r.to_anchor ? "the anchor was not timed"
                                                         : nullptr;
      if (!r.fault.empty() || missing) {
        if (m.left_out.empty()) m.left_out = r.fault.empty() ? missing : r.fault;
        continue;
      }
      step.push_back(*r.to_baseline);
      control.push_back(*r.to_twin);
      if (has_anchor) anchor.push_back(*r.to_anchor);
      finite = finite && std::isfinite(step.back()) && std::isfinite(control.back()) &&
               std::isfinite(r.to_anchor.value_or(0));
    }
  }
  if (m.processes == 0) {
    m.fault = "nothing was measured";
  } else if (sound && !has_baseline) {
    m.fault = to_string(CellOutcome::no_baseline);
    m.has_no_baseline = true;
  } else if (step.empty()) {
    m.fault = fmt::format("no process gave usable data: {}", m.left_out);
  } else if (!finite) {
    m.fault = "a measured log-ratio is not a finite number";
  } else {
    m.step = summarize(step);
    m.anchor = summarize(anchor);
    m.control = summarize(control);
    m.states = two_states(step);
    if (step.size() < 2 || !(m.step.count >= rule.usable * planned)) {
      m.fault = fmt::format("only {} of {} processes gave usable data{}{}", m.step.count, planned,
                            m.left_out.empty() ? "" : ": ", m.left_out);
    }
  }
  return m;
}

double log_of(double part) { return std::log1p(part); }

bool is_below(const Summary& s, double part, double p) {
  return upper_bound(s, 1 - p) < log_of(part);
}

// The mirror of "slower by more than `margin`" is in logarithms: swapping the arms swaps the two.
bool looks_different(const Summary& s, const DecisionRule& rule) {
  return lower_bound(s, 1 - rule.screen_p) > log_of(rule.screen_margin) ||
         upper_bound(s, 1 - rule.screen_p) < -log_of(rule.screen_margin);
}

// Whether it is shown that small steps have not added up to the budget, where there is an anchor.
bool is_within_budget(const Measured& m, double p, const DecisionRule& rule) {
  return m.anchor.count == 0 || is_below(m.anchor, rule.creep_budget, p);
}

// Whether the screen alone shows a cell to be the same. The screen never says more than that.
bool settles(const Measured& screen, bool unchanged, const DecisionRule& rule) {
  if (!screen.fault.empty()) return false;
  if (looks_different(screen.step, rule) || looks_different(screen.control, rule)) return false;
  if (unchanged) return true;
  return is_within_budget(screen, rule.unharmed_p, rule) &&
         is_below(screen.step, rule.unharmed, rule.unharmed_p);
}

// The questions asked of every confirmed cell; each is a family of its own for Holm.
enum Question { is_slower, is_faster, has_crept, control_is_slower, control_is_faster };
using Answers = std::array<double, 5>;  // p that it is not so

Answers ask(const Measured& m, const DecisionRule& rule) {
  if (!m.fault.empty()) return {1, 1, 1, 1, 1};
  const double margin = log_of(rule.margin);
  return {p_above(m.step, margin), p_below(m.step, -margin),
          p_above(m.anchor, log_of(rule.creep_budget)), p_above(m.control, margin),
          p_below(m.control, -margin)};
}

void adjust(std::vector<Answers>& family) {
  for (std::size_t question = 0; question < Answers{}.size(); ++question) {
    std::vector<double> p;
    for (const Answers& answers : family) p.push_back(answers[question]);
    p = holm(p);
    for (std::size_t i = 0; i < family.size(); ++i) family[i][question] = p[i];
  }
}

// Which batches a judgement rests on.
enum class Basis { none, screen, confirm, confirm_and_extra };

struct Judgement {
  Basis basis = Basis::none;
  Measured measured;
  Answers p = {1, 1, 1, 1, 1};
  CellOutcome outcome = CellOutcome::invalid;
  bool crept = false;
};

CellOutcome outcome_of_fault(const Measured& m) {
  return m.has_no_baseline ? CellOutcome::no_baseline : CellOutcome::invalid;
}

// The last look may spend half the alpha. Before it, what looks slower stays open, if small too.
void conclude(Judgement& j, bool unchanged, bool is_last, const DecisionRule& rule) {
  const double part = is_last ? 0.5 : 1, margin = log_of(rule.margin);
  const auto is_so = [&](Question q) { return j.p[q] < part * rule.confirm_p; };
  j.crept = false;
  if (!j.measured.fault.empty()) {
    j.outcome = outcome_of_fault(j.measured);
  } else if (is_so(control_is_slower) || is_so(control_is_faster)) {
    j.outcome = CellOutcome::invalid;
    j.measured.fault = "the control, the same code timed twice, differs from itself";
  } else if (unchanged) {
    const bool differs = is_so(is_slower) || is_so(is_faster);
    j.outcome = differs ? CellOutcome::invalid : CellOutcome::same;
    if (differs) j.measured.fault = "the measurement sees a difference in identical machine code";
  } else if (is_so(is_slower)) {
    j.outcome = CellOutcome::slower;
  } else if (is_so(is_faster)) {
    j.outcome = CellOutcome::faster;
  } else if (is_so(has_crept)) {
    j.outcome = CellOutcome::slower;
    j.crept = true;
  } else if (is_below(j.measured.step, rule.unharmed, part * rule.unharmed_p) &&
             is_within_budget(j.measured, part * rule.unharmed_p, rule) &&
             (is_last || lower_bound(j.measured.step, 1 - rule.unharmed_p) <= margin)) {
    j.outcome = CellOutcome::same;
  } else {
    j.outcome = CellOutcome::undecided;
  }
}

void look_at_screen(Judgement& j, const CellBatches& cell, const DecisionRule& rule) {
  if (cell.screen.empty() && cell.unchanged) {
    j.outcome = CellOutcome::same;
    return;
  }
  j.basis = Basis::screen;
  j.measured = measure({&cell.screen}, rule.screen_processes, rule);
  j.outcome = !j.measured.fault.empty()                   ? outcome_of_fault(j.measured)
              : settles(j.measured, cell.unchanged, rule) ? CellOutcome::same
                                                          : CellOutcome::undecided;
}

// The second look takes confirm and extra together, and counts the cells that it does not look at
// as members of the family whose p is 1. So it stays true that cells were chosen by the very data
// that it uses again: whatever the choice, it can only reject what Holm would have rejected over
// both batches of the whole family, which is half the alpha. Both looks together make a false call
// of any one kind with at most 1.5 times `confirm_p`, and that if all cells were slower by just the
// margin. The extra batch alone would be as safe, and would throw away half of the data.
void look_again(std::vector<Judgement>& judgements, const std::vector<std::size_t>& confirmed,
                const std::vector<CellBatches>& cells, const DecisionRule& rule) {
  std::vector<Answers> family;
  for (std::size_t i : confirmed) {
    Judgement& j = judgements[i];
    family.push_back({1, 1, 1, 1, 1});
    if (j.outcome != CellOutcome::undecided || cells[i].extra.empty()) continue;
    j.basis = Basis::confirm_and_extra;
    const int planned = rule.confirm_processes + static_cast<int>(cells[i].extra.size());
    j.measured = measure({&cells[i].confirm, &cells[i].extra}, planned, rule);
    family.back() = ask(j.measured, rule);
  }
  adjust(family);
  for (std::size_t at = 0; at < confirmed.size(); ++at) {
    Judgement& j = judgements[confirmed[at]];
    if (j.basis != Basis::confirm_and_extra) continue;
    j.p = family[at];
    conclude(j, cells[confirmed[at]].unchanged, true, rule);
  }
}

std::vector<std::size_t> confirmed_of(const std::vector<CellBatches>& cells) {
  std::vector<std::size_t> confirmed;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (!cells[i].confirm.empty()) confirmed.push_back(i);
  }
  return confirmed;
}

std::vector<Judgement> look(const std::vector<CellBatches>& cells,
                            const std::vector<std::size_t>& confirmed, const DecisionRule& rule) {
  std::vector<Judgement> judgements(cells.size());
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cells[i].confirm.empty()) look_at_screen(judgements[i], cells[i], rule);
  }
  std::vector<Answers> family;
  for (std::size_t i : confirmed) {
    judgements[i].basis = Basis::confirm;
    judgements[i].measured = measure({&cells[i].confirm}, rule.confirm_processes, rule);
    family.push_back(ask(judgements[i].measured, rule));
  }
  adjust(family);
  for (std::size_t at = 0; at < confirmed.size(); ++at) {
    judgements[confirmed[at]].p = family[at];
    conclude(judgements[confirmed[at]], cells[confirmed[at]].unchanged, false, rule);
  }
  look_again(judgements, confirmed, cells, rule);
  return judgements;
}

// By the confirmation, with 97.5 %: the rest of the 5 % is what the screen may let slip.
double smallest_called(double spread, std::size_t family, const DecisionRule& rule) {
  const double p = rule.confirm_p / static_cast<double>(std::max<std::size_t>(family, 1));
  return std::expm1(detectable_mean(rule.confirm_processes, spread, log_of(rule.margin), p, 0.975));
}

// How many processes tell the mean, if it stays as it is, from the nearest bound that settles it.
int processes_to_settle(const Judgement& j, std::size_t family, const DecisionRule& rule) {
  if (j.basis == Basis::screen) return rule.confirm_processes;
  constexpr double power = 0.95;
  const double p = rule.confirm_p / static_cast<double>(family);
  // To tell the true mean of these from `bound`, on the side where it is now.
  const auto below = [&](const Summary& s, double bound) {
    return count_needed(s.deviation, bound - s.mean, rule.unharmed_p, power);
  };
  const auto beyond = [&](const Summary& s, double bound) {
    return count_needed(s.deviation, s.mean - bound, p, power);
  };
  const Summary &step = j.measured.step, &anchor = j.measured.anchor;
  const double budget = log_of(rule.creep_budget);
  int same = below(step, log_of(rule.unharmed));
  if (anchor.count > 0) same = std::max(same, below(anchor, budget));
  int needed = std::min(same, beyond(step, log_of(rule.margin)));
  needed =
      std::min(needed, count_needed(step.deviation, -log_of(rule.margin) - step.mean, p, power));
  if (anchor.count > 0) needed = std::min(needed, beyond(anchor, budget));
  return std::max(needed, step.count + 1);
}

std::string slower_or_faster(double ratio) {
  return fmt::format("{:.2f} % {}", 100 * std::abs(ratio - 1), ratio < 1 ? "faster" : "slower");
}

std::string left_out(const Measured& m) {
  if (m.left_out.empty()) return "";
  return fmt::format("; {} of {} processes left out: {}", m.processes - m.step.count, m.processes,
                     m.left_out);
}

std::string states_text(const Measured& m) {
  if (!m.states || !m.fault.empty()) return "";
  return fmt::format("; in {} of {} processes it is {}, in the others {}", m.states->slow,
                     m.states->slow + m.states->fast, slower_or_faster(m.states->slow_ratio),
                     slower_or_faster(m.states->fast_ratio));
}

std::string reason_of(const Judgement& j, const CellVerdict& v, bool unchanged,
                      const DecisionRule& rule) {
  if (j.basis == Basis::none) return "proven unchanged: same machine code and launch recipe";
  if (!j.measured.fault.empty()) return j.measured.fault;
  const std::string rest = left_out(j.measured);
  const auto between =
      fmt::format("99 % interval {:+.2f} % to {:+.2f} %, {} processes", 100 * (v.interval.low - 1),
                  100 * (v.interval.high - 1), v.processes);
  if (v.crept) {
    return fmt::format("small steps added up to {} than the anchor, over the budget of {:.1f} %{}",
                       slower_or_faster(v.anchor_ratio), 100 * rule.creep_budget, rest);
  }
  switch (v.outcome) {
    case CellOutcome::slower:
    case CellOutcome::faster:
      return fmt::format("{} than the baseline ({}){}", slower_or_faster(v.ratio), between, rest);
    case CellOutcome::same:
      if (unchanged) {
        return fmt::format("proven unchanged, and the live control agrees ({}){}", between, rest);
      }
      return fmt::format("shown to be less than {:.1f} % slower ({}){}", 100 * rule.unharmed,
                         between, rest);
    default: break;
  }
  if (j.basis == Basis::screen) {
    return fmt::format("the screen could not settle it and it was not confirmed ({}){}", between,
                       rest);
  }
  if (!is_within_budget(j.measured, rule.unharmed_p, rule) &&
      is_below(j.measured.step, rule.unharmed, rule.unharmed_p)) {
    return fmt::format(
        "too noisy to tell whether small steps added up to more than {:.1f} % over the anchor "
        "(measured {:+.2f} %, {} processes): about {} processes would settle it{}",
        100 * rule.creep_budget, 100 * (v.anchor_ratio - 1), v.processes, v.processes_needed, rest);
  }
  return fmt::format("too noisy to tell ({}): about {} processes would settle it{}", between,
                     v.processes_needed, rest);
}

}  // namespace

std::vector<std::size_t> to_confirm(const std::vector<CellBatches>& cells,
                                    const DecisionRule& rule) {
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Measured screen = measure({&cells[i].screen}, rule.screen_processes, rule);
    // A screen that lost a process still has something to confirm; one without data has not.
    if (screen.step.count > 0 && !settles(screen, cells[i].unchanged, rule)) chosen.push_back(i);
  }
  return chosen;
}

std::vector<std::size_t> to_repeat(const std::vector<CellBatches>& cells,
                                   const DecisionRule& rule) {
  std::vector<std::size_t> chosen = confirmed_of(cells);
  const auto judgements = look(cells, chosen, rule);
  std::erase_if(chosen, [&](std::size_t i) {
    return judgements[i].basis != Basis::confirm || judgements[i].outcome != CellOutcome::undecided;
  });
  return chosen;
}

int processes_to_repeat(const std::vector<CellBatches>& cells, const DecisionRule& rule) {
  const auto family = static_cast<double>(confirmed_of(cells).size());
  const double gap = (log_of(rule.unharmed) - log_of(rule.margin)) / 2;
  int most = rule.confirm_processes;
  for (const std::size_t i : to_repeat(cells, rule)) {
    const Measured m = measure({&cells[i].confirm}, rule.confirm_processes, rule);
    const int needed = count_needed(m.step.deviation, gap, rule.confirm_p / family / 2, 0.95);
    most = std::max(most, std::min(needed, 4 * rule.confirm_processes) - rule.confirm_processes);
  }
  return most;
}

std::vector<CellVerdict> decide(const std::vector<CellBatches>& cells, const DecisionRule& rule) {
  const auto confirmed = confirmed_of(cells);
  const auto judgements = look(cells, confirmed, rule);
  std::vector<CellVerdict> verdicts;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Judgement& j = judgements[i];
    const Summary& step = j.measured.step;
    CellVerdict v{.outcome = j.outcome, .crept = j.crept};
    if (step.count >= 2) {
      v.ratio = std::exp(step.mean);
      v.interval = {std::exp(lower_bound(step, 0.995)), std::exp(upper_bound(step, 0.995))};
      v.p = j.p[is_slower];
      v.spread = step.deviation;
      v.detectable = smallest_called(step.deviation, confirmed.size(), rule);
      v.processes = step.count;
    }
    if (j.measured.anchor.count > 0) v.anchor_ratio = std::exp(j.measured.anchor.mean);
    if (j.outcome == CellOutcome::undecided)
      v.processes_needed = processes_to_settle(j, confirmed.size(), rule);
    v.reason = reason_of(j, v, cells[i].unchanged, rule) + states_text(j.measured);
    verdicts.push_back(std::move(v));
  }
  return verdicts;
}

}  // namespace assay
