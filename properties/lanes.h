// Work that is done in parallel, where some of it is for a few threads only.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace assay {

// Items that only the first `threads` threads take, in their order.
struct Lane {
  std::vector<std::size_t> items;
  std::size_t threads = 1;
};

// Calls work(item, t) once for each item, on as many threads as the widest lane has, numbered by t.
// A thread that may take from several lanes begins with the first. The first exception ends it all,
// and is thrown here.
void in_lanes(const std::vector<Lane>&, const std::function<void(std::size_t, std::size_t)>& work);

}  // namespace assay
