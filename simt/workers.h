// A few operating system threads that outlive a launch, so that small launches stay cheap.
#pragma once

#include <functional>

namespace simt {

inline constexpr int max_workers = 16;

// Runs `work` on `count` threads at once, this one included, and returns when all have finished.
// Passes exceptions on.
void run_on_workers(int count, const std::function<void()>& work);

}  // namespace simt
