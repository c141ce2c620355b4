#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include "oracle/contract.h"
#include "oracle/cuda/device_array.h"
#include "oracle/cuda/device_kernels.h"
#include "oracle/machine.h"
#include "oracle/trial.h"

namespace assay {
namespace {

constexpr std::int64_t guard_floats = 1 << 16;
constexpr int most_tries = 100;
constexpr std::chrono::milliseconds between_tries(200);

double gibibytes(double bytes) { return bytes / 0x1p30; }

// C between two guards, or why this GPU cannot hold the problem. Waits while another trial holds
// the memory, if the GPU has enough in all.
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
        return {.result = std::make_unique<DeviceArray<float>>(c.m * c.n + 2 * guard_floats)};
      } catch (const NoDeviceMemory&) {  // somebody was faster
        cudaGetLastError();
      }
    }
    std::this_thread::sleep_for(between_tries);
  }
  return {.lack = fmt::format("it takes {:.1f} GiB of GPU memory, and {:.1f} are free",
                              gibibytes(needed), gibibytes(static_cast<double>(free_bytes)))};
}

// A and B as in every trial, and an empty C.
Operands make_inputs(const Case& c) {
  Case only_a = c, only_b = c;
  only_a.n = 1, only_b.m = 1;
  const auto image = [](Operand o, const Case& of) {
    return make_operands(of, Placement::guarded, {16, 16, 16})[o];
  };
  return {.images = {image(Operand::a, only_a), image(Operand::b, only_b), Image{}}};
}

Breach breach_of_inputs(Machine& machine, const Operands& before) {
  Operands after = before;
  for (Operand o : {Operand::a, Operand::b}) machine.fetch(o, after[o]);
  return contract_breach(before, after);
}

// What is wrong with the result.
Breach complaint_about(const Case& c, const ProductCheck& found) {
  if (found.guard_changes > 0) {
    return {{Fault::wrote_beside, Operand::c},
            fmt::format("wrote to {} floats before the first or past the last element of C",
                        found.guard_changes)};
  }
  if (found.wrong == 0) return {};
  const auto at = static_cast<std::int64_t>(found.first_wrong);
  return {{Fault::wrong_values},
          fmt::format("{} of {} elements are wrong; the first is row {}, column {}", found.wrong,
                      c.m * c.n, at / c.n, at % c.n)};
}

Verdict judge_on_gpu(const Variant& variant, const Case& c, const Gemm& gemm, Machine& machine,
                     const Operands& inputs) {
  const double allowed = allowed_gulps(variant.arithmetic, c);
  std::vector<ProductCheck> found(1);
  const DeviceArray<ProductCheck> check(found);
  enqueue_product_check(gemm, guard_floats, allowed * unit_roundoff, check.get(), nullptr);
  cuda_check(cudaDeviceSynchronize(), "judging on the GPU");
  check.copy_to(found);
  Breach breach = breach_of_inputs(machine, inputs);
  if (breach.words.empty()) breach = complaint_about(c, found.front());
  return {.status = breach.words.empty() ? TrialStatus::right : TrialStatus::wrong,
          .finding = breach.finding,
          .reason = std::move(breach.words),
          .judged = c.m * c.n,
          .allowed_gulps = allowed};
}

}  // namespace

Verdict run_large_trial(const Entry& entry, const Case& c, const Resources& resources) {
  Machine& machine = machine_of(entry.backend, resources);
  auto [result, lack] = room_for(c);
  if (result == nullptr) return {.status = TrialStatus::refused, .reason = lack};
  cuda_check(cudaMemset(result->get(), 0xff, result->bytes()), "poisoning C");  // NaN
  cuda_check(cudaDeviceSynchronize(),
             "poisoning C");  // the stream of the launch would not wait for it

  const Operands inputs = make_inputs(c);
  const auto place = [&](Operand o) { return machine.place(o, inputs[o], Placement::guarded); };
  const float *const a = place(Operand::a), *const b = place(Operand::b);
  Given gemm{gemm_of(c, a, b, result->get() + guard_floats)};
  if (std::string reason = refusal(entry.variant, gemm); !reason.empty())
    return {.status = TrialStatus::refused, .reason = reason};
  Image workspace;
  if (auto failure = place_workspace(machine, entry.variant, c, {}, gemm, workspace))
    return *failure;

  if (const LaunchFailure failure = machine.launch(entry.variant, gemm, c, {}, resources)) {
    if (failure->context_lost) result.release();  // freeing it would wait for a hung kernel
    return *failure;
  }

  return judge_on_gpu(entry.variant, c, gemm, machine, inputs);
}

}  // namespace assay
