#include "regress/device/result_check.h"

#include <cublas_v2.h>
#include <fmt/format.h>

#include "oracle/cuda/device_kernels.h"
#include "oracle/reference.h"
#include "regress/device/probes.h"

namespace assay {
namespace {

void cublas_check(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw std::runtime_error(fmt::format("{}: {}", what, cublasGetStatusString(status)));
}

}  // namespace

// A * B and |A| * |B| in double, packed.
struct ResultCheck::Product {
  explicit Product(std::int64_t elements) : value(elements), gauge(elements) {}
  DeviceArray<double> value, gauge;
};

ResultCheck::ResultCheck() {
  cublasHandle_t handle = nullptr;
  cublas_check(cublasCreate(&handle), "cublasCreate");
  handle_ = handle;
}

ResultCheck::~ResultCheck() { cublasDestroy(static_cast<cublasHandle_t>(handle_)); }

const ResultCheck::Product& ResultCheck::product_of(const OperandSets& sets, std::int64_t set,
                                                    cudaStream_t stream) {
  if (!(problem_ == sets.layout().c)) products_.clear();
  problem_ = sets.layout().c;
  auto& product = products_[set];
  if (product) return *product;
  const Gemm g = sets.set(set);
  product = std::make_unique<Product>(g.m * g.n);
  const DeviceArray<double> a(g.m * g.k), b(g.k * g.n);
  const auto handle = static_cast<cublasHandle_t>(handle_);
  cublas_check(cublasSetStream(handle, stream), "cublasSetStream");
  for (const bool absolute : {false, true}) {
    enqueue_widen(g.a, g.lda, g.m, g.k, absolute, a.get(), stream);
    enqueue_widen(g.b, g.ldb, g.k, g.n, absolute, b.get(), stream);
    const double one = 1, zero = 0;
    cublas_check(
        cublasDgemm_64(handle, CUBLAS_OP_N, CUBLAS_OP_N, g.n, g.m, g.k, &one, b.get(), g.n, a.get(),
                       g.k, &zero, (absolute ? product->gauge : product->value).get(), g.n),
        "cublasDgemm");
  }
  cuda_check(cudaStreamSynchronize(stream), "computing a reference");
  return *product;
}

std::string ResultCheck::complaint(Enqueuer& arm, const OperandSets& sets, std::int64_t set,
                                   Arithmetic arithmetic, cudaStream_t stream) {
  const Product& product = product_of(sets, set, stream);
  const Gemm g = sets.set(set);
  const std::int64_t floats = (g.m - 1) * g.ldc + g.n;
  const auto bytes = static_cast<std::size_t>(floats) * sizeof(float);
  const DeviceArray<float> before(floats);
  const DeviceArray<unsigned long long> wrong(std::vector<unsigned long long>{0});
  if (g.beta == 0) {
    cuda_check(cudaMemsetAsync(g.c, 0xff, bytes, stream), "poisoning C");  // NaN
  } else {
    enqueue_fill(g.c, floats, static_cast<std::uint64_t>(set) + 1000, stream);
  }
  cuda_check(cudaMemcpyAsync(before.get(), g.c, bytes, cudaMemcpyDeviceToDevice, stream),
             "keeping C");
  arm.enqueue(g, stream);
  const double bound = allowed_gulps(arithmetic, g.k) * unit_roundoff;
  enqueue_compare(g, product.value.get(), product.gauge.get(), before.get(), bound, wrong.get(),
                  stream);
  cuda_check(cudaStreamSynchronize(stream), "running what is to be timed");
  std::vector<unsigned long long> count(1);
  wrong.copy_to(count);
  return count[0] == 0 ? "" : fmt::format("{} of {} elements are wrong", count[0], g.m * g.n);
}

}  // namespace assay
