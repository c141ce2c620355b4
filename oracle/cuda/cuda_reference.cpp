#include "oracle/cuda/cuda_reference.h"

#include <cublas_v2.h>
#include <fmt/format.h>

#include <cmath>

#include "base/errors.h"
#include "oracle/cuda/device_array.h"
#include "oracle/cuda/device_kernels.h"
#include "oracle/gpus.h"
#include "oracle/judge.h"

namespace assay {
namespace {

constexpr double least_multiply_adds = 1 << 25;  // below, Eigen takes a few milliseconds

void cublas_check(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS) {
    throw std::runtime_error(fmt::format("{}: {}", what, cublasGetStatusString(status)));
  }
}

cublasHandle_t handle() {
  if (const std::string why = why_no_cublas(); !why.empty()) throw Unavailable(why);
  static const cublasHandle_t handle = [] {
    cublasHandle_t h = nullptr;
    cublas_check(cublasCreate(&h), "cublasCreate");
    cublas_check(cublasSetMathMode(h, CUBLAS_PEDANTIC_MATH), "cublasSetMathMode");
    return h;
  }();
  return handle;
}

void widen(const DeviceArray<float>& image, const Image& shape, bool absolute,
           DeviceArray<double>& packed) {
  enqueue_widen(image.get() + shape.first, shape.stride, shape.rows, shape.columns, absolute,
                packed.get(), nullptr);
}

// alpha * A * B (of absolute values), packed, without beta * C.
std::vector<double> device_product(const Case& c, const Operands& operands, bool absolute) {
  const Image &a = operands[Operand::a], &b = operands[Operand::b];
  std::vector<double> product(static_cast<std::size_t>(c.m * c.n));
  DeviceArray<double> wide_a(c.m * c.k), wide_b(c.k * c.n), wide_c(c.m * c.n);
  widen(DeviceArray<float>(a.floats), a, absolute, wide_a);
  widen(DeviceArray<float>(b.floats), b, absolute, wide_b);
  const double alpha = absolute ? std::abs(double{c.alpha}) : double{c.alpha}, beta = 0;
  // Row-major C = A B is column-major C^T = B^T A^T, and the transposes cost nothing.
  cublas_check(cublasDgemm_64(handle(), CUBLAS_OP_N, CUBLAS_OP_N, c.n, c.m, c.k, &alpha,
                              wide_b.get(), c.n, wide_a.get(), c.k, &beta, wide_c.get(), c.n),
               "cublasDgemm");
  wide_c.copy_to(product);
  return product;
}

Reference device_reference(const Case& c, const Operands& operands) {
  Reference reference{c.m, c.n, device_product(c, operands, false),
                      device_product(c, operands, true), underflow_of(c)};
  add_beta_c(c, operands[Operand::c], reference);
  return reference;
}

// C by cublasSgemm in pedantic mode, as an image.
Image single_precision(const Case& c, const Operands& operands) {
  const Image &a = operands[Operand::a], &b = operands[Operand::b];
  Image result = operands[Operand::c];
  DeviceArray<float> device_a(a.floats), device_b(b.floats), device_c(result.floats);
  cublas_check(cublasSgemm_64(handle(), CUBLAS_OP_N, CUBLAS_OP_N, c.n, c.m, c.k, &c.alpha,
                              device_b.get() + b.first, b.stride, device_a.get() + a.first,
                              a.stride, &c.beta, device_c.get() + result.first, result.stride),
               "cublasSgemm");
  device_c.copy_to(result.floats);
  return result;
}

}  // namespace

std::optional<Reference> make_device_reference(const Case& c, const Operands& operands) {
  if (c.multiply_adds() < least_multiply_adds || c.fill == Fill::special || c.alpha == 0)
    return std::nullopt;
  Reference reference = device_reference(c, operands);
  if (const std::string sample = wrong_sample(c, operands, reference); !sample.empty()) {
    throw std::runtime_error(fmt::format(
        "the oracle disagrees with itself on {}: by cublasDgemm {}", to_string(c), sample));
  }
  return reference;
}

std::string why_no_cublas() {
  int version = 0;
  const cublasStatus_t status = cublasGetProperty(MAJOR_VERSION, &version);
  return status == CUBLAS_STATUS_SUCCESS ? "" : cublasGetStatusString(status);
}

std::string disagreement_with_dgemm(const Case& c, const Operands& operands,
                                    const Reference& reference) {
  if (agree(reference, device_reference(c, operands), c.k)) return "";
  return fmt::format("Eigen and cublasDgemm differ on {}", to_string(c));
}

std::string disagreement_with_sgemm(const Case& c, const Operands& operands,
                                    const Reference& reference) {
  const Judgement judgement =
      judge_bound(single_precision(c, operands), reference, allowed_gulps(Arithmetic::fp32, c));
  if (judgement.wrong == 0) return "";
  return fmt::format("Eigen and pedantic cublasSgemm differ on {} by {:.3g} gulps", to_string(c),
                     judgement.worst.error_gulps);
}

std::string disagreement_with_cublas(const Case& c) {
  const Operands operands = make_operands(c, Placement::guarded, {4, 4, 4});
  const Reference eigen = make_reference(c, operands);
  const std::string in_double = disagreement_with_dgemm(c, operands, eigen);
  return in_double.empty() ? disagreement_with_sgemm(c, operands, eigen) : in_double;
}

}  // namespace assay
