// Tries a variant's launch function on a great many problems without running a kernel, and keeps
// the cheapest one for every side of a comparison there, and every way through it, that no other
// case takes: also one that lies at a rare size, at one address, or behind the call before it.
#pragma once

#include <functional>
#include <vector>

#include "properties/aims/climbing.h"
#include "properties/aims/knowledge.h"

namespace assay {

// A way through the launch function that only problems of very many products take, by two of the
// cheapest: no size of one is a multiple of anything, and those of the other are of 64.
struct LargePath {
  Case odd, round;
  bool operator==(const LargePath&) const = default;
};

struct LaunchFindings {
  std::vector<Case> cases;
  std::vector<Case> long_cases;  // few rows or columns with kernels of their own, and parts of k
  std::vector<Case> captured;    // that are launched otherwise where they are captured
  std::vector<LargePath> large_paths;
  std::vector<Case> refused;                 // of which some launch or call fails
  std::vector<std::vector<Case>> sequences;  // the last shows it, but only after those before it
};

// Whether its launch function can be called without running a kernel, and watched.
bool can_launch_dry(const Knowledge&);

// Tells the knowledge what it sees. Ends soon where no comparison in the launch function is open;
// counts launches and calls of the watch, not time. Finds nothing where the launch function itself
// computes. `constants` are those that are known by then.
LaunchFindings search_launches(Knowledge&, const std::function<Constants()>& constants);

}  // namespace assay
