#include "oracle/finding.h"

namespace assay {
namespace {

bool is_of_values(Fault fault) {
  return (fault >= Fault::read_old_c && fault <= Fault::read_outside) ||
         (fault >= Fault::rounded_inputs && fault <= Fault::wrong_values) ||
         fault == Fault::wrong_stride || fault == Fault::transposed;
}
bool is_of_nan(Fault fault) {
  return (fault >= Fault::read_old_c && fault <= Fault::read_outside) || fault == Fault::nan;
}

// Whether a fault is one of those that a vaguer one may be.
bool may_be(Fault vaguer, Fault fault) {
  switch (vaguer) {
    case Fault::bad_address: return fault == Fault::index_overflow || fault == vaguer;
    case Fault::nan: return is_of_nan(fault);
    case Fault::wrong_values: return is_of_values(fault);
    default: return fault == vaguer;
  }
}

}  // namespace

bool names_a_mistake(Fault fault) { return fault < Fault::nan; }

bool still_shows(const Finding& found, const Finding& in_simpler) {
  return may_be(found.fault, in_simpler.fault) &&
         (!found.operand || found.operand == in_simpler.operand);
}

bool names_better(const Finding& known, const Finding& other) {
  switch (known.fault) {
    case Fault::wrong_values:
    case Fault::nan:
      return (names_a_mistake(other.fault) && is_of_values(other.fault)) ||
             other.fault == Fault::index_overflow;
    case Fault::no_product: return other.fault == Fault::k_missing || other.fault == Fault::k_twice;
    case Fault::read_gap:
    case Fault::read_outside:
      return other.fault == Fault::wrong_stride || other.fault == Fault::transposed ||
             other.fault == Fault::shifted || other.fault == Fault::k_past_end;
    default: return false;
  }
}

bool may_be_named_better(const Finding& known) {
  for (int i = 0; i < static_cast<int>(Fault::unnamed); ++i) {
    if (names_better(known, {static_cast<Fault>(i)})) return true;
  }
  return false;
}

std::string_view to_string(Fault fault) {
  switch (fault) {
    case Fault::keeps_state: return "keeps state";
    case Fault::other_stream: return "work in another stream";
    case Fault::launches_disturb: return "launches disturb each other";
    case Fault::host_access: return "host access";
    case Fault::launch_refused: return "launch refused";
    case Fault::barrier_not_reached: return "barrier not reached";
    case Fault::warp_not_reached: return "warp not reached";
    case Fault::misaligned_access: return "misaligned access";
    case Fault::stack_overflow: return "stack overflow";
    case Fault::array_overrun: return "array overrun";
    case Fault::data_race: return "data race";
    case Fault::read_unwritten: return "use of an uninitialised value";
    case Fault::bad_instruction: return "bad instruction";
    case Fault::index_overflow: return "index overflow";
    case Fault::bad_address: return "bad address";
    case Fault::wrote_input: return "wrote to an input";
    case Fault::wrote_beside: return "wrote beside C";
    case Fault::wrote_on_refusal: return "wrote on refusal";
    case Fault::not_refused: return "not refused";
    case Fault::thread_order: return "depends on thread order";
    case Fault::not_repeatable: return "not repeatable";
    case Fault::launch_failed: return "launch failed";
    case Fault::read_old_c: return "read C although beta is 0";
    case Fault::read_shared: return "read unwritten shared memory";
    case Fault::read_register: return "read an uninitialised variable";
    case Fault::read_lane: return "read a lane that has left";
    case Fault::read_gap: return "read a gap between rows";
    case Fault::read_outside: return "read outside the matrices";
    case Fault::never_ends: return "never ends";
    case Fault::rounded_inputs: return "rounded inputs";
    case Fault::transposed: return "transposed operand";
    case Fault::wrong_stride: return "wrong stride";
    case Fault::k_missing: return "part of k missing";
    case Fault::k_twice: return "part of k twice";
    case Fault::k_past_end: return "sum past the last k";
    case Fault::shifted: return "shifted operand";
    case Fault::other_element: return "other elements";
    case Fault::sums_not_reset: return "sums not reset";
    case Fault::beta: return "beta";
    case Fault::alpha: return "alpha";
    case Fault::unwritten: return "unwritten";
    case Fault::no_product: return "product missing";
    case Fault::sign_of_zero: return "sign of zero";
    case Fault::special_lost: return "infinity or NaN lost";
    case Fault::flushed: return "denormals flushed";
    case Fault::overflow: return "overflow";
    case Fault::other_order: return "other order of summation";
    case Fault::nan: return "NaN";
    case Fault::wrong_values: return "wrong values";
    case Fault::process_ended: return "process ended";
    case Fault::unnamed: return "unnamed";
  }
  return "unknown";
}

}  // namespace assay
