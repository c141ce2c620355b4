// What it takes to capture a launch on the PTX machine into a graph, and to launch that graph as
// another program would: with other numbers in memory, and long after the launch function returned.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "oracle/diagnosis/whereabouts.h"
#include "oracle/machine.h"

namespace assay {

// What the operands and the workspace hold, where the gaps between rows are stored.
class Contents {
 public:
  explicit Contents(const ByOperand<Placed>&);
  void put_back() const;
  // In C: what else a launch may write nobody reads.
  bool operator==(const Contents&) const;
  const float* row(Operand o, const Placed& p, std::int64_t i) const {
    const std::byte* const first = held_[static_cast<std::size_t>(o)].data();
    return static_cast<const float*>(static_cast<const void*>(first)) + i * p.ld;
  }

 private:
  ByOperand<std::byte*> first_;
  ByOperand<std::vector<std::byte>> held_;
};

// Whether two results of a problem, given what was there before, differ by no more than rounding: a
// variant may well sum otherwise where it is captured.
bool are_alike(const Contents& one, const Contents& other, const Contents& before,
               const ByOperand<Placed>&, const Case&, Arithmetic);

// How many calls for a smaller problem come between two launches of a graph: for the first small
// cases of a process as many as use each slot of a ring again, else one.
int calls_before_replay(const Case&);

// Other numbers in A and B, and so in the product, and in C; for some seeds zeros in a half of A,
// as in a call that warms up.
void change_numbers(const ByOperand<Placed>&, std::uint64_t seed);

// Of the caller's first stream. What it calls must be done within an observation.
class CapturedGraph {
 public:
  CapturedGraph() = default;
  ~CapturedGraph();
  CapturedGraph(const CapturedGraph&) = delete;
  LaunchFailure capture(const std::function<LaunchFailure()>& start);
  // The stack and the heap hold other things by then. Whatever called `capture` has its variables
  // above `frame`, whatever that called had them below.
  LaunchFailure launch(const void* frame);
  // Before anything else is done.
  LaunchFailure launch_at_once();

 private:
  void* graph_ = nullptr;
  void* executable_ = nullptr;
};

// Within a capture of the caller's first stream: what is put into its second one meanwhile runs
// beside what is put into the first.
LaunchFailure side_by_side(const std::function<LaunchFailure()>& start);

// Whether something is so in a copy of this process, which goes on as if it had not been tried. A
// process tries that a few times; afterwards nothing is so.
bool in_a_copy_of_this_process(const std::function<bool()>& is_so);

// The verdict on a variant that goes wrong where its first call is captured.
LaunchFailure first_differs();
// The verdict on a graph that leaves something else in C than a launch does.
LaunchFailure replay_differs();

}  // namespace assay
