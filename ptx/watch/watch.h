// Looks at what a kernel compares while it runs. As with a counter, the ordinary run knows nothing
// of it: a launch that is watched runs a copy of the kernel's operations.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "ptx/decode/code.h"
#include "ptx/machine/warp.h"
#include "ptx/watch/comparisons.h"

namespace ptx {

class Watch {
 public:
  // The launch ends, as if it had never come to its end, after this many comparisons of threads.
  Watch(const Program::Kernel&, std::uint64_t most_calls);

  const Op* code() const;
  const Op* look_and_run(const Op*, Warp&);
  Watched result() const;

 private:
  const std::shared_ptr<const WatchedCode> watched_;
  std::vector<Comparison> seen_;  // of each place
  const std::uint64_t most_calls_;
  std::uint64_t calls_ = 0;
};

}  // namespace ptx
