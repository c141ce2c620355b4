// Where trials run: memory that a kernel can reach and nothing else near it, and a launch that
// always comes back.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "oracle/reference.h"

namespace assay {

// The order in which the threads of a block run, where that can be chosen. `by_seed` picks one of
// the others.
enum class ThreadOrder { by_seed, forward, reverse, shuffled };

// The circumstances of a launch. Only a GPU has any but `plain`.
enum class Setting {
  plain,
  slow_producer,  // the operands are written late, by earlier work in the stream the launch is
                  // given
  graph,          // captured into a CUDA graph, which is replayed twice
  broken_stream,  // every launch into the stream fails; the variant must say so
  two_streams,    // another launch, on other operands, runs at the same time
  busy_gpu,       // another stream keeps all multiprocessors busy
};

struct Schedule {
  ThreadOrder order = ThreadOrder::by_seed;
  std::uint64_t seed = 0;
  int workers = 1;      // of the CPU executor
  double seconds = 10;  // of computing; a launch that takes longer never ends
  Setting setting = Setting::plain;
};

struct Outcome {
  enum class Kind { done, failed, crashed, hung };
  Kind kind = Kind::done;
  std::string text;           // one sentence on anything but `done`
  bool context_lost = false;  // nothing more can run here in this process
};

// What a variant throws is its answer, as an error is. Empty if it throws nothing.
template <class Call>
std::string thrown_by(const Call& call) {
  try {
    call();
    return "";
  } catch (const std::exception& error) {
    return std::string("launch threw: ") + error.what();
  }
}

class Machine {
 public:
  virtual ~Machine() = default;
  // Copies the image to this machine and answers the address of element (0, 0). An `unreadable`
  // operand is an address that faults; nothing is copied.
  virtual float* place(Operand, const Image&, Placement) = 0;
  // The inverse; not for `unreadable` operands.
  virtual void fetch(Operand, Image&) = 0;
  virtual Outcome launch(const Variant&, const Gemm&, const Schedule&) = 0;
  // The reference for problems that are too large for the host, or nothing where this machine is no
  // help.
  virtual std::optional<Reference> reference(const Case&, const Operands&) { return std::nullopt; }
  // Where the references that can be computed here do not agree on a case, within their own
  // rounding; empty if they do.
  virtual std::string disagreement(const Case&) = 0;
};

// The machine of this thread for a backend. Throws Unavailable if this build or computer has none.
Machine& machine_of(Backend);

// Why this computer cannot run a backend; empty if it can.
std::string unavailable(Backend);

// Why its GPUs cannot run a variant with these needs; empty if they can, or there are none.
std::string unmet(const Needs&);

}  // namespace assay
