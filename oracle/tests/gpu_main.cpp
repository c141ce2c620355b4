// The tests of this room that take a GPU, in one process: starting one takes longer than they do.
#include <gtest/gtest.h>

#include "oracle/gpus.h"
#include "oracle/tests/run_tests.h"

int main(int argc, char** argv) {
  assay::keep_to_assigned_gpu();
  testing::InitGoogleTest(&argc, argv);
  return assay_test::run_tests();
}
