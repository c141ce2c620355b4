// Runs host code whose CUDA calls go to the substitute runtime, and tells what its kernels did.
//
// Objects that nvcc compiled are linked with `ptx_cudart` instead of NVIDIA's runtime. Its symbols
// are hidden in each library that links it, and so never meet those of the real one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ptx/machine/machine.h"

namespace ptx {

// Device memory of this process: what cudaMalloc gives, and what callers lend.
Memory& device_memory();

// Whether host code faults that touches what it allocates on the device from now on, or a variable
// of kernels; not so what it maps itself. Not so at first.
void hide_device_memory(bool);
// What to say of a fault at an address; null unless it is hidden. For handlers of signals.
const char* why_host_faults_at(const void* address);

// One of the caller's streams, by its number. None of them waits for another stream, but for one
// more, which waits for the legacy stream as those of cudaStreamCreate do.
inline constexpr int streams_of_caller = 129;  // one more than tables of streams often have room for
inline constexpr int stream_of_high_priority = 1;  // the highest; all others have the usual one
inline constexpr int stream_that_blocks = streams_of_caller;
void* stream_of_caller(int);

// Which one the first of the caller's streams is: one of its own, or what CUDA names without a
// handle: a null pointer, cudaStreamLegacy, cudaStreamPerThread.
enum class FirstStream : std::uint8_t {
  own,
  of_high_priority,
  that_blocks,
  legacy_default,
  legacy_by_name,
  of_thread
};
void* handle_of(FirstStream);

struct Request {
  Settings settings;
  std::string program;  // that the host code is of: kernels of another one use a heap of their own
  // How many of its streams the caller gives to the host code. What was done before is work in
  // them, and the caller goes on when they have finished: it knows of no others. 0: it waits for
  // all work of the device.
  int streams = 0;
  FirstStream first_stream = FirstStream::own;
  // Into how many equal shares the room for blocks is divided, as by other kernels that run at the
  // same time. A launch gets one share; a cooperative one waits until it has them all.
  unsigned shares_room = 1;
  // Launches that nothing orders may be under way at the same time, where blocks are shuffled.
  bool meet = false;
  bool refuses_launches = false;  // each returns an error and runs nothing, which is no finding
  std::optional<int> refused_launch =
      {};  // so does this one, counted from 0; what follows runs nothing
  std::optional<int> most_allocations = {};       // further ones fail, which is no finding
  std::optional<std::uint64_t> free_memory = {};  // cudaMemGetInfo tells of no more than that
  std::optional<int> most_launches = {};          // with more, it never ends
  bool runs_nothing = false;  // what a GPU would take returns at once: launches, copies, memsets
};

// Whether a fault is one whatever blocks do that were left out: what is wrong with an access is so,
// what an access goes by may be theirs to write.
bool stands_alone(Fault);

struct Observation {
  std::optional<Finding> finding;       // the first; later launches of the same call do nothing
  int launches = 0;                     // that were asked for
  int kernels = 0;                      // that were launched
  int allocations = 0;                  // that were asked for, of memory, streams and events
  std::uint64_t allocated = 0;          // bytes of memory of the device
  bool lacked_memory = false;           // the device has less than was asked for
  bool asked_what_is_free = false;      // by cudaMemGetInfo
  bool told_error = false;              // some call returned one
  std::vector<LaunchCounts> counts;     // of each, if asked for and without a finding
  std::vector<Watched> watched;         // of each, if asked for
  std::string seen_late, heap_used_up;  // by a launch: see Outcome
  std::uint64_t extra_time = 0;  // of all launches: what some operations take beyond usual ones
  // Most blocks of a launch were left out; and what the others leave is no part of the whole,
  // because something else writes memory too, or because the blocks depend on each other.
  bool is_part = false, is_no_part = false;
  std::uint64_t most_stored = 0;  // words of C, by all launches: see Outcome
  std::optional<Crowd> crowd;     // of the launch of which most blocks had to be in flight
  std::uint64_t blocks = 0;       // of all launches where nothing runs; and a number
  std::uint64_t launched = 0;     // equal for equal kernels, grids and arguments there
  std::map<const void*, std::uint64_t> blocks_of;  // of each kernel, there
};

// A hash of what variables of kernels, and memory that host code has allocated, hold between calls:
// another one where something was left there; 0 if there is none. The first MiB of each counts.
std::uint64_t hash_of_kept_memory();

// What that memory holds now, put back later where it is still there.
class KeptMemory {
 public:
  KeptMemory();
  void put_back() const;

 private:
  std::map<const void*, std::vector<std::byte>> held_;
};

// Bytes that host code or kernels have allocated, and not given back.
std::uint64_t kept_bytes();

// Streams, events, graphs and the like that host code has created, and not destroyed.
std::uint64_t kept_handles();

// Calls on one thread at a time only.
Observation observe(const Request&, const std::function<void()>& host_code);

}  // namespace ptx
