// Counts what a kernel does while it runs. The ordinary run knows nothing of it: a launch that is
// counted runs a copy of the kernel's operations, each of which is looked at before it does its
// work.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/counts/counts.h"
#include "ptx/decode/code.h"
#include "ptx/machine/warp.h"

namespace ptx {

class Counter {
 public:
  explicit Counter(const Program::Kernel&);

  // What runs instead of the kernel's own code, operation for operation.
  const Op* code() const { return code_.data(); }
  const Op* count_and_run(const Op*, Warp&);
  // Bytes of global memory that lie together, which a bulk copy moves.
  void add_bulk(const Op*, std::uint64_t address, std::uint64_t bytes);
  // All that was counted, by line. Shapes and names are the caller's to add.
  LaunchCounts result() const;

 private:
  enum class What : std::uint8_t {
    nothing,
    instruction,
    branch,
    load,
    store,
    atomic,
    copy,
    bulk_load,
    bulk_store
  };
  enum class Needs : std::uint8_t { nobody, named, all };  // whom a warp-wide operation waits for
  // How an operation is counted, and what came of it.
  struct Tally {
    What what = What::nothing;
    Space space = Space::generic;
    int bytes = 0;  // of a lane; 0: another load does it
    std::size_t class_number = 0;
    Needs needs = Needs::nobody;
    std::uint32_t lanes = all_lanes;  // that may have an address
    bool has_unknown_accesses = false;

    Executed executed;
    GlobalTraffic global;
    SharedTraffic shared;
    std::uint64_t local = 0;    // of warps
    std::uint64_t strides = 0;  // warps that had both of the first two lanes
    std::int64_t stride = 0;
    bool stride_varies = false;
  };

  void choose(std::size_t op, const Instruction&, int joined);
  std::size_t class_number(const std::string& name);
  void count_access(Tally&, const Op*, Warp&, std::uint32_t lanes);
  void count_copy(Tally&, const Op*, Warp&, std::uint32_t lanes);
  void add(const Tally&, Counts&) const;
  void add_access(const Tally&, LineCounts&) const;

  const Program::Kernel& kernel_;
  std::vector<Op> code_;
  std::vector<Tally> tallies_;  // of each operation
  std::vector<std::string> classes_;
};

}  // namespace ptx
