// Parallel work, some of which only a few threads may do.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace assay {

// Items that only the first `threads` threads take, in this order.
struct Lane {
  std::vector<std::size_t> items;
  std::size_t threads = 1;
};

// Calls work(item, t) once for each item, on as many threads as the widest lane has, numbered by t.
// A thread that may take from several lanes begins with the first. The first exception stops all
// threads, and is thrown to the caller.
void in_lanes(const std::vector<Lane>&, const std::function<void(std::size_t, std::size_t)>& work);

}  // namespace assay
