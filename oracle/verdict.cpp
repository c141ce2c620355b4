#include "oracle/verdict.h"

namespace assay {

std::string_view to_string(TrialStatus status) {
  switch (status) {
    case TrialStatus::right: return "right";
    case TrialStatus::wrong: return "wrong";
    case TrialStatus::refused: return "refused";
    case TrialStatus::crashed: return "crashed";
    case TrialStatus::hung: return "hung";
    case TrialStatus::harness_error: return "harness error";
  }
  return "unknown";
}

bool is_failure(const Verdict& verdict) {
  return verdict.status == TrialStatus::wrong || verdict.status == TrialStatus::crashed ||
         verdict.status == TrialStatus::hung;
}

}  // namespace assay
