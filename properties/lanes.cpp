#include "properties/lanes.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

namespace assay {

void in_lanes(const std::vector<Lane>& lanes,
              const std::function<void(std::size_t, std::size_t)>& work) {
  std::vector<std::atomic<std::size_t>> next(lanes.size());
  std::atomic<bool> failed = false;
  std::exception_ptr failure;
  std::once_flag first;
  const auto serve = [&](std::size_t t) {
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
      if (t >= lanes[lane].threads) continue;
      for (std::size_t i; !failed && (i = next[lane]++) < lanes[lane].items.size();) {
        try {
          work(lanes[lane].items[i], t);
        } catch (...) {
          std::call_once(first, [&] { failure = std::current_exception(); });
          failed = true;
        }
      }
    }
  };
  std::size_t widest = 0, items = 0;
  for (const Lane& lane : lanes) {
    widest = std::max(widest, lane.threads);
    items += lane.items.size();
  }
  {
    std::vector<std::jthread> others;
    for (std::size_t t = 1; t < std::min(widest, items); ++t) others.emplace_back(serve, t);
    serve(0);
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace assay
