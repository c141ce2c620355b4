// Which operation comes before which, as streams, events and waits order them. Each is carried out
// when it is enqueued; only a launch may be put off, until something needs its results. What is
// told here is what streams do not promise.
#pragma once

#include <cstdint>
#include <deque>
#include <initializer_list>
#include <map>
#include <utility>
#include <vector>

#include "ptx/machine/machine.h"

namespace ptx::runtime {

// By number: 1 is the legacy default stream. What is not `apart` waits for that, and it for them.
struct StreamName {
  unsigned long long number = 1;
  bool is_apart = false;
};

// Of each stream, by number, how many of its operations are over. There is one for every operation,
// and in streams by the hundred: a list in order is copied and merged faster than a tree.
class Known {
 public:
  using Operations = std::pair<unsigned long long, std::uint64_t>;

  Known() = default;
  Known(std::initializer_list<Operations>);
  std::uint64_t of(unsigned long long stream) const;
  void learn(unsigned long long stream, std::uint64_t operations);
  void learn(const Known&);
  bool covers(const Known&) const;  // all of its operations are among these
  bool operator==(const Known&) const = default;

 private:
  std::vector<Operations> all_;
};

class Timeline {
 public:
  // What the caller of the host code did before is work of these streams.
  void begin(const std::vector<StreamName>& of_caller);

  // What the next operation of a stream may not count on. One that `starts_early` need not find the
  // kernel ahead of it finished (programmatic stream serialization), until it waits for that.
  Past past_of_next(StreamName, bool starts_early = false) const;
  Known add(StreamName, Unordered);           // that operation; what it is, by itself
  void note_that_last_overtakes(StreamName);  // operation of it

  Known before_next(StreamName) const;  // operation of it: what an event holds
  void wait(StreamName, const Known&);  // later operations of it come after these
  void wait_on_host(const Known&);      // later operations of all streams
  bool host_knows(const Known&) const;
  // The host may know without having waited: a function of its own was called behind all this.
  void tell_host(const Known&);
  bool host_may_know(const Known&) const;
  Known of_all() const;  // operations of all streams

  // What a caller who has waited for the streams of its own may not count on.
  std::vector<Unordered> left_over() const;

 private:
  std::vector<Unordered> unknown_to(const Known&) const;

  struct Stream {
    StreamName name;
    std::uint64_t operations = 0;
    Known known = {};
    std::deque<Unordered> under_way = {};  // the last ones, for all that the host knows
  };
  Stream& stream(StreamName);
  bool may_overtake_caller(const Stream&) const;
  std::map<unsigned long long, Stream> streams_;
  Known host_, told_;
  std::vector<StreamName> of_caller_;
};

// What an event or the like knows of work: with the end of an observation all of that is over.
class KnownNow {
 public:
  Known& get();

 private:
  Known known_;
  std::uint64_t observation_ = 0;
};

}  // namespace ptx::runtime
