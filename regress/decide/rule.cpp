#include <array>

#include "regress/decide/decide.h"

namespace assay {

DecisionRule rule_for_host(const DecisionRule& rule) {
  DecisionRule host = rule;
  host.margin = 0.1;
  host.screen_margin = 0.07;
  host.unharmed = 0.25;
  return host;
}

bool is_over_budget(const Ratio& to_anchor, const DecisionRule& rule) {
  return to_anchor.processes > 0 && !(to_anchor.value <= 1 + rule.creep_budget);
}

const char* to_string(CellOutcome outcome) {
  static constexpr std::array words = {"wrong",       "slower", "undecided", "invalid",
                                       "no baseline", "faster", "same"};
  return words.at(static_cast<std::size_t>(outcome));
}

const char* outcome_text(const CellVerdict& verdict) {
  const bool crept = verdict.crept && verdict.outcome == CellOutcome::slower;
  return crept ? "slower by creep" : to_string(verdict.outcome);
}

}  // namespace assay
