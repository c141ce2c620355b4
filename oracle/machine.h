// Where trials run: memory that a kernel can reach with nothing near it, and launches that always
// come back.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "base/host_heap.h"
#include "kernels/gemm.h"
#include "oracle/plan.h"
#include "oracle/reference.h"
#include "oracle/verdict.h"

namespace assay {

// The verdict on a launch that failed, crashed or hung; nothing for one that ran to its end.
using LaunchFailure = std::optional<Verdict>;
inline LaunchFailure launch_crashed(std::string reason) {
  return Verdict{.status = TrialStatus::crashed,
                 .finding = {Fault::launch_failed},
                 .reason = std::move(reason)};
}
// The same on one that returned no error, although this launch of it failed, or every one.
LaunchFailure error_not_reported(std::optional<int> launch = {});

// The verdict on a variant of which two launches at a time leave other bits than one alone.
LaunchFailure launches_disturb();

// The verdict on a launch that returned an error. A variant may not refuse a problem by itself: the
// diagnosis says what it would declare.
LaunchFailure launch_returned(const char* error, const Gemm&);

// What a variant throws is a failure of its launch, like an error code. Empty if it throws nothing.
// It finds no memory of the host as it left it.
template <class Call>
std::string thrown_by(const Call& call) {
  const ScribbledHeap scribbled;
  try {
    call();
    return "";
  } catch (const std::exception& error) {
    return std::string("launch threw: ") + error.what();
  }
}

// A workspace that a machine has no memory for.
struct NoWorkspace : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Machine {
 public:
  virtual ~Machine() = default;
  // Copies the image to this machine and returns the address of element (0, 0): null for one
  // without floats. An `unreadable` operand gets an address that faults; nothing is copied.
  virtual float* place(Operand, const Image&, Placement) = 0;
  // The inverse; not for `unreadable` operands.
  virtual void fetch(Operand, Image&) = 0;
  // The same where it is no longer what was placed; nothing where it is.
  virtual std::optional<Image> change_of(Operand, const Image& placed);
  // Calls the variant's launch function, in the plan's order and setting, and waits for its work.
  virtual LaunchFailure launch(const Variant&, const Given&, const Case&, const Plan&,
                               const Resources&) = 0;
  // One sentence on what the last launch did that is no fault, but worth knowing; else empty.
  virtual std::string remark() const { return ""; }
  // Whether the last launch left out most blocks of its grid.
  virtual bool ran_a_part() const { return false; }
  // Where the last launch had blocks that waited for others that come later in their grid.
  virtual std::optional<Crowd> crowd() const { return std::nullopt; }
  // A load of the last launch that a missing fence let come too early, in words; empty: none did.
  virtual std::string what_came_early() const { return ""; }
  // That malloc gave a kernel of the last launch nothing, and why, likewise.
  virtual std::string heap_used_up() const { return ""; }
  // How many kernels, copies and memsets the last launch asked for, where they are counted.
  virtual int operations() const { return 1; }
  // How often it asked for memory of the device, or for what takes some, where that is counted.
  virtual int allocations() const { return 0; }
  // Whether it asked how much of that is free, where that is seen.
  virtual bool asked_what_is_free() const { return false; }
  // Of memory that it keeps between launches for their variants; another one where some was
  // written.
  virtual std::uint64_t hash_of_kept_memory() const { return 0; }
  // Bytes that its variants have allocated, and not given back, where they are counted.
  virtual std::uint64_t kept_bytes() const { return 0; }
  // Likewise streams, events, graphs and the like.
  virtual std::uint64_t kept_handles() const { return 0; }
  // Whether the last launch ran any code of the variant's that could have computed a product.
  virtual bool has_computed() const { return true; }
  // The reference for problems that are too large for the host; nothing for the others.
  virtual std::optional<Reference> reference(const Case&, const Operands&) { return std::nullopt; }
  // Compares the references that can be computed here on a case: how they differ by more than their
  // own rounding; empty if they agree.
  virtual std::string disagreement(const Case&) = 0;
};

// Makes a workspace and places it, for a problem that is placed and accepted. One that cannot be
// had is a failure of the launch that asks for it.
LaunchFailure place_workspace(Machine&, const Variant&, const Case&, const Plan&, Given&, Image&);

// This thread's machine for a backend and GPU. Throws Unavailable if this build or computer has
// none.
Machine& machine_of(Backend, const Resources&);

// Host memory with unreadable memory on both sides, for `simt` and `host`.
std::unique_ptr<Machine> make_cpu_machine(Backend);
// The same memory, for nvcc's output on the PTX machine, which sees every access.
std::unique_ptr<Machine> make_ptx_machine();
// One GPU, with memory that faults on both sides of every operand.
std::unique_ptr<Machine> make_cuda_machine(const Resources&);

double memory_of_this_computer();  // bytes

// What machines on the host share: whether the references agree, and how long a launch may take.
std::string disagreement_on_host(const Case&);
struct TimeLimit {
  double cpu_seconds, cpu_seconds_per_thread;
};
TimeLimit time_limit(const Case&, const Tile& = {});

// Why this computer cannot run a backend; empty if it can.
std::string unavailable(Backend);

// The GPU that the PTX machine stands in for: h200 at first. Throws BadInput for one that it does
// not know.
void stand_in_for(const std::string& model);
int capability_of_model();  // 90 stands for sm_90
// Sets its number of multiprocessors; 0: that of the model. And words for that, where a variant has
// asked how many there are, and others were chosen; else none.
void choose_multiprocessors(int);
std::string other_multiprocessors();

// Why the GPUs of this computer, or the one that the PTX machine stands in for, cannot run a
// variant with these needs; empty if they can, or there are none.
std::string unmet(const Needs&, Backend = Backend::cuda);

}  // namespace assay
