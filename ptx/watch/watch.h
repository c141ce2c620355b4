// Looks at what a kernel compares while it runs. As with a counter, the ordinary run knows nothing
// of it: a launch that is watched runs a copy of the kernel's operations.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/decode/code.h"
#include "ptx/machine/warp.h"
#include "ptx/watch/comparisons.h"

namespace ptx {

class Watch {
 public:
  // The launch ends, as if it had never come to its end, after this many comparisons of threads.
  Watch(const Program::Kernel&, std::uint64_t most_calls);

  const Op* code() const { return code_.data(); }
  const Op* look_and_run(const Op*, Warp&);
  Watched result() const;

 private:
  using Look = void (*)(Comparison&, const Op*, const Warp&);
  struct Seen {
    const Op* op = nullptr;
    Look look = nullptr;
    Handler run = nullptr;
    Comparison comparison;
  };
  static Look look_for(Type);

  const Program::Kernel& kernel_;
  std::vector<Op> code_;
  std::vector<std::uint32_t> number_of_;  // in `seen_`, of each operation that compares
  std::vector<Seen> seen_;
  const std::uint64_t most_calls_;
  std::uint64_t calls_ = 0;
};

}  // namespace ptx
