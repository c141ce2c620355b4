// Launches that wait in their streams, and how they run at the same time: each stream in its order,
// a stretch of blocks at a time, by the seed.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "simt/runner.h"

namespace simt {

class InFlight {
 public:
  // Keeps a copy of the arguments.
  void put(const void* stream, const Launch&);
  // Runs all that waits, until `run` returns false.
  void run_all(std::uint64_t seed, const std::function<bool(const Launch&, const Stretch&)>& run);

 private:
  struct Waiting {
    Launch launch;
    std::shared_ptr<const void> arguments;
    std::uint64_t done = 0;  // blocks
  };
  std::vector<std::pair<const void*, std::deque<Waiting>>> streams_;
};

}  // namespace simt
