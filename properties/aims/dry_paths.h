// Launches that run nothing, one after the other: which way through the launch function the last of
// them takes, and the cheapest ones that take it as well.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "oracle/watched/dry_launches.h"
#include "properties/fitting.h"

namespace assay {

using Launches = std::vector<DryLaunch>;  // one after the other: the last counts

class DryPaths {
 public:
  DryPaths(const Entry&, const simt::Hints&);

  // Leaves nothing in mind that others ask for.
  const DryLaunch& other() const { return other_; }
  Dry launch(const DryLaunch&);
  Dry launch_all(const Launches&);  // behind the other one; tells of the last
  Launches latest() const;          // the last launches of all, the latest last
  // Equal where the same kernels run with the same arguments, behind the other one.
  std::uint64_t launched_alone(const DryLaunch&);
  // For each kernel a number, equal where it has as many times the blocks that it has for a sum of
  // one product, or as there are tiles.
  std::map<const void*, std::uint64_t> parts_of(const DryLaunch&, const Dry&);
  // Of the last, behind the others: 0 if it is not accepted. Where state is kept, what it launches
  // counts as well.
  std::uint64_t path_of(const Launches&);
  void count_what_is_kept() { keeps_state_ = true; }

  // Whether they still take that path when each is changed; else they stay as they are.
  template <class Change>
  bool try_change(Launches& launches, std::uint64_t path, const Change& change) {
    Launches changed = launches;
    for (DryLaunch& d : changed) {
      change(d);
      d.c = fitted(d.c, needs_);
    }
    if (changed == launches || path_of(changed) != path) return false;
    launches = std::move(changed);
    return true;
  }
  // What tells little goes first; then sizes, each as small as can be.
  void cheapen(Launches&, std::uint64_t path);
  // The least power of 2 by which a size can grow, or 0: where it has to be a multiple of one
  // thing, it may still be none of another.
  std::int64_t unit_of(const DryLaunch&, std::uint64_t path, std::int64_t Case::*size);

  std::vector<simt::Comparison> comparisons() const { return dry_.comparisons(); }
  std::vector<simt::Comparison> compared_in(const DryLaunch& d) { return dry_.compared_in(d); }

  bool tells_failures = false;  // apart from the same way where nothing fails
  bool tells_parts = false;     // apart from the same way where the sum is in more or fewer
  std::uint64_t spent = 0;      // in calls of the watch
  std::vector<Launches> news;   // that took a new side of a comparison

 private:
  static constexpr std::size_t most_before = 32;
  void lessen(Launches&, std::uint64_t path, std::int64_t Case::*size);
  void bisect(Launches&, std::uint64_t path, std::int64_t Case::*size, std::int64_t unit);
  bool set_size(Launches&, std::uint64_t path, std::int64_t Case::*size, std::int64_t to);

  const Needs& needs_;
  const Tile tile_;
  DryLaunches dry_;
  const DryLaunch other_;
  std::size_t count_ = 0;
  bool keeps_state_ = false;  // between launches
  std::array<DryLaunch, most_before> before_;
};

}  // namespace assay
