// Looks at every access that the watched build of a kernel makes to A, B and C: what it reads there
// and throws away, or writes back as it was, no result shows.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/registry.h"
#include "oracle/case.h"
#include "oracle/finding.h"

namespace assay {

// What accesses are looked at for. Outside: in a gap between rows, or within 1 MiB before the first
// or behind the last element; memory farther away may be the kernel's own.
enum class Forbidden {
  reading_outside,  // the elements of A, B and C
  writing_outside,  // the elements of C
  reading_c,        // before it is written, although beta is 0
};

struct Look {
  bool whole = false;          // the kernel came to its end, and all its accesses were looked at
  Finding finding = {};        // of the first access that is forbidden
  std::string words;           // one sentence on it; empty if there is none
  const void* code = nullptr;  // that made it, as in simt/access.h
};

// Launches the watched build once on the executor, in an order that the case gives, and gives up
// after `most_accesses`. Takes an entry with a `watched_launch` and a case that it accepts.
Look look_at_accesses(const Entry&, const Case&, Forbidden, std::uint64_t most_accesses);

}  // namespace assay
