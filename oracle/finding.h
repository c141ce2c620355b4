// What a verdict found, as a value: two verdicts with the same finding show the same fault.
// Shrinking stays with it, and of several failures the one whose finding says most leads. The words
// are in the Verdict.
#pragma once

#include <optional>
#include <string_view>

#include "oracle/operands.h"

namespace assay {

// From the fault that says best what to look for to the one that only says that something is wrong.
enum class Fault {
  keeps_state,       // between launches
  other_stream,      // than the one it was given gets work, in no order with it
  launches_disturb,  // each other, on two streams
  host_access,       // the host computes, or looks
  launch_refused,
  barrier_not_reached,
  warp_not_reached,
  misaligned_access,
  stack_overflow,
  array_overrun,
  data_race,
  read_unwritten,  // and went by it
  bad_instruction,
  index_overflow,
  wrong_stride,  // before what it leads to: the address may be a bad one
  transposed,
  bad_address,
  wrote_input,
  wrote_beside,      // outside C, or between its rows
  wrote_on_refusal,  // although it refused the problem
  not_refused,
  thread_order,
  not_repeatable,  // it depends on where the operands lie
  launch_failed,   // returned an error or threw
  read_old_c,      // although beta is 0
  read_shared,     // before it was written
  read_register,   // likewise
  read_lane,       // of a warp, that has left
  read_gap,
  read_outside,
  never_ends,
  // Wrong values: a mistake that gives just these.
  rounded_inputs,
  k_missing,
  k_twice,
  k_past_end,
  shifted,
  other_element,
  sums_not_reset,
  beta,
  alpha,
  unwritten,
  no_product,
  sign_of_zero,
  special_lost,  // an infinity or NaN of the input
  flushed,       // denormals, to 0
  overflow,      // of an intermediate result
  other_order,
  // Wrong values that nothing known gives.
  nan,
  wrong_values,
  process_ended,
  unnamed,
};
std::string_view to_string(Fault);

// Whether it is more than that something is wrong.
bool names_a_mistake(Fault);

struct Finding {
  Fault fault = Fault::unnamed;
  std::optional<Operand> operand = {};  // whose memory it is about, where that is known

  bool operator==(const Finding&) const = default;
};

// Whether a verdict on a simpler case that found `in_simpler` shows the fault `found`: the same, or
// one that says more.
bool still_shows(const Finding& found, const Finding& in_simpler);

// Whether `other`, of a case with more in it, names the fault of which `known` is only the effect:
// with k = 1 a missing tail of k is a missing product.
bool names_better(const Finding& known, const Finding& other);
bool may_be_named_better(const Finding&);

}  // namespace assay
