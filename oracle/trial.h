// A trial: one case run by one variant on one backend. It ends in a verdict, whatever the kernel
// does.
#pragma once

#include <optional>
#include <string>

#include "kernels/registry.h"
#include "oracle/judge.h"
#include "oracle/machine.h"

namespace assay {

// Ways to make a well-formed problem malformed.
enum class Spoil { none, negative_m, negative_n, negative_k, short_lda, short_ldb, short_ldc };

// How a trial is run and what it is judged by. A claim chooses it; it is never part of a case.
struct Plan {
  Rule rule = Rule::bound;
  Placement placement = Placement::guarded;  // of A, B and C
  bool hide_inputs = false;                  // A and B fault when touched
  ThreadOrder order = ThreadOrder::by_seed;
  Setting setting = Setting::plain;
  Spoil spoil = Spoil::none;
  bool ignore_needs =
      false;  // launches what the variant does not accept, to see whether its needs are needed
  int workers = 1;
};

// `harness_error`: the harness itself failed, which says nothing about the variant.
enum class Status { right, wrong, refused, crashed, hung, harness_error };

struct Verdict {
  Status status = Status::right;
  std::string reason;       // one sentence on anything but `right`
  std::string diagnosis;    // of a wrong result: which elements, and what that usually means
  std::string picture;      // of the wrong elements of C, some lines of text
  std::int64_t judged = 0;  // elements
  std::optional<Element> worst;
  double allowed_gulps = 0;
  bool context_lost =
      false;  // the fault made this process useless for further trials on this backend
};

// How long a launch on a GPU may take beyond what its arithmetic takes, before it counts as never
// ending; of this thread.
inline constexpr double default_watchdog_seconds = 10;
void set_watchdog(double seconds);
double watchdog();

// How long a launch may take in all.
double seconds_for(const Entry&, const Case&);

std::string_view to_string(Status);

// What a launch left in C: the bits of its elements, packed. Only where it ran to its end.
using Output = std::vector<float>;

// Refuses, or launches and judges. The memory contract is part of every verdict: A, B, guards and
// gaps are unchanged, and after a refusal C is too.
Verdict run_trial(const Entry&, const Case&, const Plan&, Output* output = nullptr);

}  // namespace assay
