// How a trial is run and judged, and what it may use. A claim chooses the plan, whoever runs the
// trial grants the resources; neither is part of a case.
#pragma once

#include <algorithm>
#include <optional>

#include "oracle/altering.h"
#include "oracle/operands.h"

namespace assay {

// What C must hold after a launch.
enum class Rule {
  bound,      // the reference, within the allowed number of gulps
  exact,      // exactly the reference
  replay,     // the bits of one in-order fma chain
  untouched,  // what it held before, because nothing could be launched
  anything,   // a part of a launch failed, and was reported
  none,       // whatever it may be: only what the launch does is judged
};

// The order in which threads and blocks run, where that can be chosen. `by_seed` picks one of the
// next three. `interrupted` is shuffled, and a thread may lose its turn at any access to memory;
// only a watched launch can be.
enum class ThreadOrder { by_seed, forward, reverse, shuffled, interrupted };

// What shared memory holds before a block of the CPU executor writes it. `by_seed` picks ordinary
// numbers for every fifth seed: a NaN can be hidden, by a maximum or a comparison.
enum class SharedMemory { by_seed, nan, ordinary };

// The circumstances of a launch. A GPU has all but `dry`; the CPU executor has all before `graph`,
// and the PTX machine that one, too.
enum class Setting {
  plain,
  dry,            // nothing runs; whether hardware would take each launch is all that shows
  broken_stream,  // every launch into the stream fails; the variant must report it
  slow_producer,  // earlier work in the launch's stream writes the operands late
  two_streams,    // a second launch, on other operands, runs at the same time
  graph,          // captured into a CUDA graph, which is replayed twice; on the PTX machine, with
                  // other numbers in the operands first
  graph_pair,     // on the PTX machine, two calls side by side in one graph
  busy_gpu,       // another stream keeps all multiprocessors busy
};

// Ways to make a well-formed problem malformed.
enum class Spoil { none, negative_m, negative_n, negative_k, short_lda, short_ldb, short_ldc };

// What two launches at a time both read.
enum class Shared { nothing, a, b };

struct Plan {
  Rule rule = Rule::bound;
  Placement placement = Placement::guarded;  // of A, B and C
  bool hide_inputs = false;                  // A and B fault when touched
  bool keeps_workspace = false;  // as the launch before has left it, if that had as much
  // A lies where C does otherwise, and C where A does. Not on a GPU.
  bool exchanged = false;
  ThreadOrder order = ThreadOrder::by_seed;
  SharedMemory shared = SharedMemory::by_seed;
  Setting setting = Setting::plain;
  // With two streams: how often the second launch is repeated, if not a few times.
  int in_flight = 0;
  bool may_be_fewer_in_flight = true;  // where these would take too long
  // With two streams, on the PTX machine: A or B, if both launches read the same one. By seed, if
  // not said.
  std::optional<Shared> shared_operand = std::nullopt;
  // With a broken stream: the one launch of several that fails, counted from 0. Not on a GPU.
  std::optional<int> broken_launch = std::nullopt;
  // If not 0, the PTX machine and the CPU executor run at most this many blocks of each grid, and
  // only what they leave in C is judged. Where blocks depend on each other, nothing is judged.
  std::uint64_t most_blocks = 0;
  // How many allocations succeed before the device runs out of memory. Then an error is as good as
  // a right C. PTX machine only.
  std::optional<int> most_allocations = std::nullopt;
  // How many free bytes cudaMemGetInfo reports. An error is as good as a right C here too. PTX
  // machine only.
  std::optional<std::uint64_t> free_memory = std::nullopt;
  bool sees_stores_at_once = false;  // where the PTX machine lets some be seen late
  Spoil spoil = Spoil::none;
  Altered altered = Altered::nothing;
  // Host code that reads or writes the operands goes unseen. To close them to it takes longer than
  // a tiny launch. CPU executor only.
  bool open_to_host = false;
  bool ignore_needs =
      false;  // launch what the variant refuses, to see whether its needs are needed
};

bool has_ordinary_shared(const Case&, const Plan& = {});

inline constexpr double default_watchdog_seconds = 10;

struct Resources {
  // Seconds that a launch on a GPU may take beyond its arithmetic before it counts as hung.
  double watchdog_seconds = default_watchdog_seconds;
  int gpu = 0;                 // CUDA's number of the device
  bool in_worker = false;      // another process started this one and reports how it ends
  bool case_is_given = false;  // by somebody, and not drawn: it may take as long as it takes
};

// How many blocks of a large grid make about so many products, from 8 to `most`: few where each
// makes many.
inline std::uint64_t blocks_worth(double products, std::uint64_t most, const Case& c,
                                  const Tile& tile) {
  constexpr double usual_block = 256;
  constexpr std::uint64_t least = 8;
  const double elements = std::max(usual_block, double{1} * tile.m * tile.n);
  const double each = elements * static_cast<double>(std::max<std::int64_t>(1, c.k));
  return std::clamp(static_cast<std::uint64_t>(products / each), least, most);
}

}  // namespace assay
