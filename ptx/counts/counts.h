// What a launch asked of the hardware, counted as a profiler counts it: plain data. Everything
// follows from the kernel and its arguments; not from the order in which threads ran, as long as
// they neither race nor ask again and again whether others are done.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ptx {

inline constexpr std::uint64_t sector_bytes = 32;

// Of one kind of access to global memory, and of shared memory. An instruction of a warp counts
// once if any lane takes part, and not at all if none does.
struct GlobalTraffic {
  std::uint64_t requests = 0;  // instructions of warps
  std::uint64_t sectors = 0;   // distinct pieces of 32 bytes within each request
  std::uint64_t accesses = 0;  // of threads
  std::uint64_t bytes_asked = 0;
  std::uint64_t bytes_moved() const { return sectors * sector_bytes; }
  GlobalTraffic& operator+=(const GlobalTraffic&);
  bool operator==(const GlobalTraffic&) const = default;
};
struct SharedTraffic {
  std::uint64_t instructions = 0;  // of warps, once neighbouring loads are joined
  std::uint64_t wavefronts = 0;    // turns that these take; more than they must is a bank conflict
  std::uint64_t accesses = 0;      // of threads
  std::uint64_t bytes_asked = 0;
  SharedTraffic& operator+=(const SharedTraffic&);
  bool operator==(const SharedTraffic&) const = default;
};

// Of one class of instructions, as PTX has them. Where a guard keeps all lanes of a warp out, the
// warp does not count.
struct Executed {
  std::uint64_t warps = 0, threads = 0;
  Executed& operator+=(const Executed&);
};

struct Counts {
  // Copies are those of cp.async, from global to shared memory.
  GlobalTraffic global_loads, global_stores, global_atomics, global_copies;
  // Bulk copies out of and into global memory, also of tensors. A request is a copy; its sectors
  // are counted for each row of a box apart. What they cost in shared memory is not documented.
  GlobalTraffic bulk_loads, bulk_stores;
  SharedTraffic shared_loads, shared_stores, shared_atomics, shared_copies;
  std::uint64_t local_loads = 0, local_stores = 0;  // of warps: registers that did not suffice
  std::uint64_t barriers = 0;                       // of warps
  Executed instructions;
  std::map<std::string, Executed> classes;  // "fma.f32", "ld.global", "integer"

  std::uint64_t ffma() const;  // of threads
  Counts& operator+=(const Counts&);
};

// How far apart the first two lanes of a warp are at an access, in bytes.
struct Stride {
  bool is_known = false;  // else no warp had both lanes, or it was not the same for all
  std::int64_t bytes = 0;
};

// An access in the code, as often as it is executed.
struct AccessCounts {
  std::string what;                     // "ld.global"
  int bytes = 0;                        // of a lane, once neighbouring loads are joined
  std::uint64_t warps = 0, pieces = 0;  // sectors or wavefronts
  Stride stride;
};

// Of a source line: of what is inlined there, the outermost line in a .cu file.
struct LineCounts {
  std::string file;
  int line = 0;
  Counts counts;
  std::vector<AccessCounts> accesses;  // in the order of the code
};

struct LaunchCounts {
  std::string kernel;  // as PTX names it
  std::uint64_t blocks = 0, threads_per_block = 0;
  Counts total;
  std::vector<LineCounts> lines;  // by file and line
  // Instructions that were executed and access memory nobody knows how: "wmma.load", "tex.1d".
  std::vector<std::string> not_counted;
  // Instructions in the code, however often they run: beside those of the machine code.
  std::map<int, int> shared_loads_by_bytes;
};

}  // namespace ptx
