// That cuBLAS and Eigen are compared with each other, and by how much they may differ. Takes a GPU.
#include "oracle/cuda/cuda_reference.h"

#include <gtest/gtest.h>

#include "oracle/gpus.h"
#include "oracle/tests/run_tests.h"

namespace {

using namespace assay;

const Case c{.m = 17, .n = 13, .k = 29, .alpha = 1.5, .beta = -0.5, .lda = {3}, .ldc = {5}};

class CudaReference : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = why_no_gpu(); !why.empty())
      return assay_test::skip_without_gpu(why);
  }
  // Eigen's, but for one element, which is off by so much of its scale.
  Reference off_by(double share) const {
    Reference reference = make_reference(c, operands_);
    reference.c[40] += share * reference.gauge[40];
    return reference;
  }
  const Operands operands_ = make_operands(c, Placement::guarded, {4, 4, 4});
};

TEST_F(CudaReference, agrees_with_eigen) { EXPECT_EQ(disagreement_with_cublas(c), ""); }

TEST_F(CudaReference, in_double_differs_from_one_with_a_wrong_element) {
  EXPECT_EQ(disagreement_with_dgemm(c, operands_, off_by(0)), "");
  EXPECT_EQ(disagreement_with_dgemm(c, operands_, off_by(1e-12)),
            "Eigen and cublasDgemm differ on " + to_string(c));
  Reference wrong_scale = off_by(0);
  wrong_scale.gauge[40] *= 1 + 1e-12;
  EXPECT_NE(disagreement_with_dgemm(c, operands_, wrong_scale), "");
}

TEST_F(CudaReference, in_single_precision_differs_from_one_with_a_wrong_element) {
  EXPECT_EQ(disagreement_with_sgemm(c, operands_, off_by(0)), "");
  EXPECT_EQ(disagreement_with_sgemm(c, operands_, off_by(40 * unit_roundoff))
                .find("Eigen and pedantic cublasSgemm differ on " + to_string(c) + " by "),
            0u);
}

}  // namespace
