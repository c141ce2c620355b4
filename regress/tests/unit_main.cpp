// The unit tests of this room, and the timing processes that some of them start: one that answers
// as it should, and some that do not.
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <thread>

#include "regress/processes.h"

namespace {

using namespace assay;

// Seven launches where the first process is to choose; the seed as a canary. The second GPU is
// another model, and the third is full, which it tells when all others have gone home.
int answer() {
  const TimingJob job = job_of({std::istreambuf_iterator<char>(std::cin), {}});
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  const std::string gpu = visible == nullptr ? "" : visible;
  if (gpu == "2") std::this_thread::sleep_for(std::chrono::milliseconds(300));
  ProcessTiming timing = {.device = {{"key", gpu == "1" ? "attic" : "lab"}},
                          .canaries = {{"seed", static_cast<double>(job.seed)}},
                          .unfit = gpu == "2" ? "no device memory" : ""};
  for (const CellJob& cell : job.cells) {
    timing.cells.push_back(
        {.cell = cell.cell, .launches = cell.launches == 0 ? 7 : cell.launches + 100});
  }
  std::cout << to_text(timing) << std::flush;
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view argument = argc == 2 ? argv[1] : "";
  if (argument == "--answer") return answer();
  if (argument == "--die") return std::raise(SIGKILL);
  if (argument == "--fail") return 3;
  if (argument == "--babble") {
    std::cout << "all is well";
    return 0;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
