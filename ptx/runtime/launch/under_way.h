// Launches that have begun. Mostly each is run to its end at once. Where those of several streams
// are to meet, one may be left in the middle, as on a GPU, until something comes that comes after
// it; whatever is launched meanwhile takes turns with it.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <optional>

#include "ptx/machine/machine.h"
#include "ptx/runtime/timeline.h"

namespace ptx::runtime {

class UnderWay {
 public:
  struct One {
    LaunchUnderWay launch;
    Known self;  // the operation that it is
    // Does what is to be done with what it came to; throws what it found.
    std::function<void(Outcome)> end;
  };

  // `as`: what others have to know of it. May be left in the middle if it gets a number for that,
  // by which it is drawn where.
  void begin(One, const Unordered& as, std::optional<std::uint64_t> pause);
  void finish(const Known&);  // those that are part of it
  void finish_all();
  bool empty() const { return all_.empty(); }
  void forget() { all_.clear(); }

 private:
  using Place = std::list<One>::iterator;
  // Runs a launch until it is over, or for `most` turns; the others take turns with it. If it
  // throws, none is under way any more.
  void go_on_with(Place, std::uint64_t most);
  void take_turns(Place, std::uint64_t most);
  void end(Place);

  std::list<One> all_;
  std::uint64_t random_ = 0;
};

}  // namespace ptx::runtime
