// The unit tests of this room, and the worker process of some of them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string_view>

#include "oracle/gpus.h"
#include "oracle/tests/run_tests.h"
#include "properties/tests/planted.h"
#include "properties/worker.h"

int main(int argc, char** argv) {
  assay::keep_to_assigned_gpu();
  unsetenv("CUDA_LAUNCH_BLOCKING");  // it would hide planted faults
  if (argc == 2 && std::string_view(argv[1]) == "--worker")
    return assay::serve_worker(assay_test::planted_or_claim_named);
  testing::InitGoogleTest(&argc, argv);
  return assay_test::run_tests();
}
