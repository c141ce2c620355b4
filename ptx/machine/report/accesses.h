// Findings about an access, and what it is not ordered with.
#pragma once

#include <cstdint>
#include <string>

#include "ptx/machine/access.h"
#include "ptx/machine/memory.h"
#include "ptx/machine/report/report.h"

namespace ptx {

inline const char* verb(const Access& a) {
  return a.does != nullptr ? a.does : a.writes ? "writes" : "reads";
}
Details details_of(const Warp&, const Access&);

// `region`: that holds a part of it, if any does.
void report_outside(Warp&, const Access&, const Region* region);
// Of a shared array.
void report_beyond_array(Warp&, const Access&, bool is_before);

// Who made a stamp of the same block, in words.
std::string other_text(const Warp&, std::uint32_t stamp);
struct Other {
  std::string who;
  bool wrote = false, is_in_block = true;
  std::uint32_t op = 0;
  bool is_in_flight = false;
  bool is_in_shared = false;
  bool is_multiplying = false;   // a product of a warpgroup that nobody has waited for
  bool is_in_cluster = false;    // of another block
  bool lacks_fence = false;      // whoever comes later has heard of it only
  bool is_out_of_scope = false;  // one of the two is atomic for its own block alone
};
// Who was in the way of an access to shared memory of a block.
Other other_of(const Warp&, const SharedShadow::Conflict&, const Block& owner);
void report_race(Warp&, const Access&, const std::string& place, const Other&);
// To shared memory of a block of the cluster, at an offset.
void report_ended(Warp&, const Access&, const Block& owner);
// With work of another stream, or of a kernel that need not have ended.
void report_unordered(Warp&, const Access&, const std::string& place, const Unordered& other,
                      bool wrote, std::uint32_t op);
// Also of what this lane wrote itself, and of what is ordered: where a way to memory of its own is
// taken, that is not enough.
void report_unseen(Warp&, const Access&, const std::string& place, const std::string& who,
                   std::uint32_t op);

}  // namespace ptx
