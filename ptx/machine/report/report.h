// Findings, in words: which thread did what, where in memory, and where in the source.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ptx/machine/machine.h"
#include "ptx/machine/warp.h"

namespace ptx {

struct Region;

// "thread (3,0,0) of block (1,0,0)".
std::string thread_text(const Warp&, int lane);

std::string block_text(const Block&);  // "block (1,0,0)"

// "row 3, column 5 of C", "byte 8 of memory of 128 bytes (allocation 3)".
std::string place_in(const Region&, std::uint64_t address);
// "word 2 of a_tile"; of shared memory as a whole, where no variable is known to lie there.
std::string place_in_shared_memory(const Warp&, std::uint64_t offset);
// Of any address that an instruction may have: a generic one, too.
std::string place_of_address(const Warp&, std::uint64_t address);

Site site(const Warp&, std::string does, const Op*);

// What a finding says beside its text.
struct Details {
  std::uint64_t address = 0;
  bool is_write = false;
  std::vector<Site> sites = {};  // none: where the operation stands
};
// The first finding ends the launch, but for a use of memory that nobody wrote: that goes on for a
// while. The text gets the place of the operation, where it lacks it.
void report(Warp&, const Op*, Fault, std::string text, Details = {});

}  // namespace ptx
