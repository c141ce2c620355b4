// Every access to memory that watched code makes, before it makes it.
//
// Seen are loads, stores, atomic operations and copies in kernels of a library that is built with
// `simt_add_kernels(... WATCHED)`, and what memsets and memcpys of a launch touch; not what other
// libraries do for a kernel, nor a thread's own variables that never leave it.
#pragma once

#include <cstddef>

namespace simt {

struct Access {
  const void* code = nullptr;  // the address after the call, in the watched kernel; null for a copy
  const void* address = nullptr;
  std::size_t bytes = 0;
  bool reads = false, writes = false;
};

// Given in `Settings`. What it does not allow ends the launch with a fault.
class AccessJudge {
 public:
  virtual ~AccessJudge() = default;
  virtual bool allows(const Access&) = 0;  // must not allocate memory
};

}  // namespace simt
