// Lets a launch run without what it enqueues. The program is linked so that its calls of the CUDA
// runtime that enqueue what a recipe can hold, kernels and memsets, come through here first.
#pragma once

namespace assay {

// While one lives, such calls do nothing, and succeed. All others do what they always do.
class DryLaunches {
 public:
  DryLaunches();
  ~DryLaunches();
  DryLaunches(const DryLaunches&) = delete;
  DryLaunches& operator=(const DryLaunches&) = delete;
};

}  // namespace assay
