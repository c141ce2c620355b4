#include "oracle/large_trial.h"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <thread>

#include "oracle/device_array.h"
#include "oracle/device_kernels.h"

namespace assay {
namespace {

constexpr std::int64_t guard_floats = 1 << 16;
constexpr int most_tries = 100;
constexpr std::chrono::milliseconds between_tries(200);

double gibibytes(double bytes) {
  return bytes / 0x1p30;
}

// C with a guard, or why this GPU cannot hold the problem. Another trial may hold the memory for a
// while: that is waited for where the GPU has enough in all.
struct Room {
  std::unique_ptr<DeviceArray<float>> result;
  std::string lack;
};
Room room_for(const Case& c) {
  const double elements =
      static_cast<double>(c.m) * static_cast<double>(c.n) + static_cast<double>((c.m + c.n) * c.k);
  const double needed = 4.0 * elements + 0x1p28;
  std::size_t free_bytes = 0, all_bytes = 0;
  for (int tries = 0; tries < most_tries; ++tries) {
    cuda_check(cudaMemGetInfo(&free_bytes, &all_bytes), "cudaMemGetInfo");
    if (needed > static_cast<double>(all_bytes)) break;
    if (needed <= static_cast<double>(free_bytes)) {
      try {
        return {.result = std::make_unique<DeviceArray<float>>(c.m * c.n + guard_floats)};
      } catch (const NoDeviceMemory&) {  // somebody was faster
        cudaGetLastError();
      }
    }
    std::this_thread::sleep_for(between_tries);
  }
  return {.lack = fmt::format("it takes {:.1f} GiB of GPU memory, and {:.1f} are free",
                              gibibytes(needed), gibibytes(static_cast<double>(free_bytes)))};
}

float* place(Machine& machine, Operand o, const Case& c, std::int64_t& ld) {
  const Operands images = make_operands(c, Placement::guarded, {16, 16, 16});
  ld = images[o].ld;
  return machine.place(o, images[o], Placement::guarded);
}

Verdict verdict_of(const Case& c, const ProductCheck& found, double allowed) {
  Verdict verdict{.judged = c.m * c.n, .allowed_gulps = allowed};
  if (found.guard_changes > 0) {
    verdict.reason = fmt::format("wrote {} floats past the last element of C", found.guard_changes);
  } else if (found.wrong > 0) {
    const auto at = static_cast<std::int64_t>(found.first_wrong);
    verdict.reason = fmt::format("{} of {} elements are wrong; the first is row {}, column {}",
                                 found.wrong, verdict.judged, at / c.n, at % c.n);
  }
  if (!verdict.reason.empty()) verdict.status = Status::wrong;
  return verdict;
}

}  // namespace

Verdict run_large_trial(const Entry& entry, const Case& c) {
  Machine& machine = machine_of(entry.backend);
  auto [result, lack] = room_for(c);
  if (result == nullptr) return {.status = Status::refused, .reason = lack};
  cuda_check(cudaMemset(result->get(), 0xff, result->bytes()), "poisoning C");  // NaN
  cuda_check(cudaDeviceSynchronize(),
             "poisoning C");  // the stream of the launch would not wait for it

  Gemm gemm{
      .m = c.m, .n = c.n, .k = c.k, .alpha = c.alpha, .beta = 0, .c = result->get(), .ldc = c.n};
  Case only_a = c, only_b = c;
  only_a.n = 1, only_b.m = 1;
  gemm.a = place(machine, Operand::a, only_a, gemm.lda);
  gemm.b = place(machine, Operand::b, only_b, gemm.ldb);
  if (std::string reason = refusal(entry.variant, gemm); !reason.empty())
    return {.status = Status::refused, .reason = reason};

  const Outcome outcome = machine.launch(entry.variant, gemm, {.seconds = seconds_for(entry, c)});
  if (outcome.context_lost) result.release();  // to free it would wait for a kernel that never ends
  if (outcome.kind != Outcome::Kind::done) {
    return {.status = outcome.kind == Outcome::Kind::hung ? Status::hung : Status::crashed,
            .reason = outcome.text,
            .context_lost = outcome.context_lost};
  }

  const double allowed = allowed_gulps(entry.variant.arithmetic, c.k);
  std::vector<ProductCheck> found(1);
  const DeviceArray<ProductCheck> check(found);
  enqueue_product_check(gemm, guard_floats, allowed * unit_roundoff, check.get(), nullptr);
  cuda_check(cudaDeviceSynchronize(), "judging on the GPU");
  check.copy_to(found);
  return verdict_of(c, found.front(), allowed);
}

}  // namespace assay
