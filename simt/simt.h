// Runs CUDA kernels on the CPU, from the same sources, and names their faults.
//
// A kernel compiled with simt/include in front of the include path launches as on a GPU. `observe`
// chooses how its threads are scheduled and returns the first fault by name; the caller never
// hangs and never crashes. The executor is hostile on purpose: the threads of a block run one after
// the other up to the next barrier, in the order asked for, and shared memory holds NaN before
// every block, or ordinary numbers. In shuffled order released warps get ahead or fall back, and
// blocks overlap, by the seed. Whatever happens follows from the settings: one thread of the system
// runs a launch.
//
// It refuses what an sm_90 GPU would refuse. A barrier waits for the threads that have not
// returned, as it does from sm_70 on; that some have is a remark. Host code has no events, so
// nothing orders work in a stream that it was not given. The executor cannot see weak memory, nor
// shared memory accesses that leave one array through a pointer but stay inside the memory of the
// block; and races inside a barrier interval only where threads of watched code are interrupted.
// Threads that wait for each other without a barrier count as never ending.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace simt {

class AccessJudge;
class Watch;

enum class Order { forward, reverse, shuffled };

// Memory that only kernels may touch, and operations of a stream, as on a GPU.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;
  virtual void open() = 0;  // safe in a signal handler
  virtual void close() = 0;
};

struct Settings {
  Order order = Order::forward;
  std::uint64_t seed = 0;  // of the shuffled order
  // A launch never ends if it computes for longer than this.
  double cpu_seconds = 10, cpu_seconds_per_thread = 0;
  bool refuses_launches = false;      // each returns an error and runs nothing, which is no fault
  std::optional<int> refused_launch;  // so does this one alone, counted from 0
  // Shared memory holds ordinary numbers before every block, by the seed, instead of NaN: a maximum
  // or a comparison hides a NaN.
  bool ordinary_shared = false;
  bool runs_nothing = false;  // each that hardware would take returns at once
  // If not 0, only this many blocks of a larger grid are run, the first and the last among them.
  // Must not be set together with `keeps_in_flight`.
  std::uint64_t most_blocks = 0;
  // That the host code is given: work in another one is a fault. None: any will do.
  std::vector<const void*> streams = {};
  // Launches return before they have run. Once the host code has returned, those of different
  // streams run at the same time: whose blocks come next follows from the seed.
  bool keeps_in_flight = false;
  // Told what watched code compares (simt/watch.h).
  Watch* watch = nullptr;
  // Threads of watched code may lose their turn at any access to memory, by the seed.
  bool interrupt_accesses = false;
  // Asked about every access of watched code to memory (simt/access.h).
  AccessJudge* access_judge = nullptr;
  // Closed while host code runs: its first access there is a fault. Null for none.
  DeviceMemory* device_memory = nullptr;
};

enum class FaultKind {
  host_access,          // of device memory, by the launch function itself
  other_stream,         // than those that the launch function was given gets work
  launch_refused,       // the hardware would refuse this grid, block or amount of shared memory
  barrier_not_reached,  // threads of a block wait at different barriers
  warp_not_reached,     // some lanes wait at a warp-wide operation that others never reach
  never_ends,
  misaligned_access,
  bad_address,
  stack_overflow,
  array_overrun,    // an index beyond an array of known length
  not_allowed,      // an access that the judge of accesses does not allow
  bad_instruction,  // division by zero, trap, failed assertion of the compiler
};

std::string_view to_string(FaultKind);

struct Fault {
  FaultKind kind;
  std::string text;               // one sentence with the block and thread
  const void* address = nullptr;  // of a bad or misaligned access
  bool is_write = false;
};

struct Observation {
  std::optional<Fault> fault;  // the first
  std::string remark;          // what is no fault, but worth knowing: one sentence, or empty
  int kernels = 0;             // that were launched
  int operations = 0;          // kernels, copies and memsets that were asked for
  std::uint64_t blocks = 0;    // of all kernels that hardware would take
  std::uint64_t launched = 0;  // equal for equal kernels, grids and arguments, where none runs
  std::map<const void*, std::uint64_t> blocks_of;  // of each kernel, there
  bool is_part = false;        // blocks were left out
  bool blocks_meet = false;    // perhaps: something is done atomically, or after something else
  // Threads of the blocks that were started, and how often they waited: what a launch costs, the
  // same on any machine.
  std::uint64_t threads = 0, stops = 0;
};

// Runs `host_code` on this thread. The kernels that it launches follow `settings`, and have
// finished when the launch returns, unless they are kept in flight. After a fault, later launches
// of the same call do nothing.
Observation observe(const Settings& settings, const std::function<void()>& host_code);

// Fills shared memory before every block: a signalling NaN, which arithmetic turns into the quiet
// one of the same payload, so that a result shows where it came from.
inline constexpr std::uint32_t unwritten_shared_bits = 0x7f85eeddu;

// What a lane gets from one that has left its warp, likewise.
inline constexpr std::uint32_t absent_lane_bits = 0x7f81a6e5u;

// The limits of one launch.
inline constexpr int max_threads_per_block = 1024;
inline constexpr int max_block_z = 64;
inline constexpr unsigned max_grid_x = 2147483647, max_grid_yz = 65535;
inline constexpr std::size_t max_static_shared = 48 * 1024;
inline constexpr std::size_t max_shared =
    227 * 1024;  // static and dynamic, after cudaFuncSetAttribute

}  // namespace simt
