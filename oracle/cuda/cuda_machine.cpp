#include "oracle/cuda/cuda_machine.h"

#include <fmt/format.h>

#include <algorithm>

#include <thread>
#include <utility>

#include "base/errors.h"
#include "oracle/cuda/cuda_reference.h"
#include "oracle/cuda/settings.h"
#include "oracle/gpus.h"

namespace assay {
namespace {

// A launch is given up after its time; this much later so is a call that does not come back.
constexpr double seconds_to_notice = 3;

std::size_t bytes_of(std::int64_t floats) {
  return static_cast<std::size_t>(floats) * sizeof(float);
}

// Before anything else of the machine is made, which goes to the current device.
int select_device(int device) {
  cuda_check(cudaSetDevice(device), "cudaSetDevice");
  return device;
}

Fault fault_of(cudaError_t error) {
  switch (error) {
    case cudaErrorIllegalAddress: return Fault::bad_address;
    case cudaErrorMisalignedAddress: return Fault::misaligned_access;
    case cudaErrorAssert: return Fault::bad_instruction;
    default: return Fault::launch_failed;
  }
}

Verdict context_lost(TrialStatus status, Fault fault, std::string reason) {
  return {.status = status, .finding = {fault}, .reason = std::move(reason), .context_lost = true};
}
Verdict crashed(cudaError_t error) {
  return context_lost(TrialStatus::crashed, fault_of(error),
                      fmt::format("{}: {}", cudaGetErrorName(error), cudaGetErrorString(error)));
}

void open_rows(Slot& slot, const Image& image) {
  std::vector<std::span<std::byte>> rows;
  for (const Piece& piece : pieces_of(image)) {
    rows.emplace_back(reinterpret_cast<std::byte*>(slot.first + piece.at),
                      bytes_of(piece.end - piece.begin));
  }
  slot.sparse.open_only(rows);
}

// Before it is asked for in vain.
void require_memory(const DeviceRegion& region, std::size_t bytes) {
  if (bytes <= static_cast<std::size_t>(region.end() - region.begin())) return;
  std::size_t free_bytes = 0, all_bytes = 0;
  cuda_check(cudaMemGetInfo(&free_bytes, &all_bytes), "cudaMemGetInfo");
  if (bytes > free_bytes / 2)
    throw NoWorkspace(fmt::format("it asks for {} bytes of workspace, and {} of the GPU are free",
                                  bytes, free_bytes));
}

}  // namespace

CudaMachine::CudaMachine(const Resources& resources)
    : device(select_device(resources.gpu)), deadline_(resources.in_worker) {}

float* CudaMachine::place(Operand o, const Image& image, Placement placement) {
  Slot& slot = slots[static_cast<std::size_t>(o)];
  const std::size_t bytes = bytes_of(image.spread());
  const bool lies_there = !slot.unreadable && slot.bytes == bytes && slot.columns == image.columns;
  if (placement == Placement::as_left) return lies_there ? slot.first : nullptr;
  if (o == Operand::workspace) require_memory(slot.region, bytes);
  slot.columns = image.columns;
  slot.unreadable = placement == Placement::unreadable || image.floats.empty();
  if (slot.unreadable && placement != Placement::unreadable) return slot.first = nullptr;
  if (slot.unreadable) {
    return slot.first = reinterpret_cast<float*>(
               forbidden_device_memory() + (std::size_t{1} << 38) * static_cast<std::size_t>(o));
  }
  slot.is_sparse = image.is_sparse();
  DeviceRegion& region = slot.is_sparse ? slot.sparse : slot.region;
  slot.bytes = bytes;
  slot.is_sparse ? region.reserve_sparse(slot.bytes) : region.reserve(slot.bytes);
  slot.image = placement == Placement::ends_at_fence ? region.end() - slot.bytes : region.begin();
  slot.first = reinterpret_cast<float*>(slot.image) + image.first;
  if (slot.is_sparse) open_rows(slot, image);
  for (const Piece& piece : pieces_of(image)) {
    cuda_check(cudaMemcpyAsync(slot.first + piece.at, image.floats.data() + piece.begin,
                               bytes_of(piece.end - piece.begin), cudaMemcpyHostToDevice, stream),
               "copying an operand to the GPU");
  }
  return slot.first;
}

void CudaMachine::fetch(Operand o, Image& image) {
  const Slot& slot = slots[static_cast<std::size_t>(o)];
  for (const Piece& piece : pieces_of(image)) {
    cuda_check(cudaMemcpyAsync(image.floats.data() + piece.begin, slot.first + piece.at,
                               bytes_of(piece.end - piece.begin), cudaMemcpyDeviceToHost, stream),
               "copying an operand back from the GPU");
  }
  cuda_check(cudaStreamSynchronize(stream), "copying an operand back from the GPU");
}

LaunchFailure CudaMachine::launch(const Variant& variant, const Given& given, const Case& c,
                                  const Plan& plan, const Resources& resources) {
  // Generous: on a GPU that others use too, the slowest variants do a hundred times as many a
  // second.
  const double seconds = resources.watchdog_seconds + c.multiply_adds() / 1e9;
  if (std::exchange(variant_, variant.name) != variant.name) seconds_of_a_step_ = 0;
  const double expected = seconds_of_a_step_ * static_cast<double>(c.k);
  if (expected > resources.watchdog_seconds / 2)
    return Verdict{.status = TrialStatus::refused,
                   .reason = fmt::format("it would take some {:.2g} s here, going by how long it "
                                         "took where k was less",
                                         expected)};
  cuda_check(cudaDeviceSynchronize(), "preparing a launch");  // nothing of the last trial runs on
  cudaGetLastError();
  launched_ = Clock::now();
  limit_ = std::chrono::duration<double>(seconds);
  deadline_.set(seconds + seconds_to_notice);
  if (left_error_ && !has_holes())
    left_error_ = launch_once_more(*this, variant, given).has_value();
  LaunchFailure failure = launch_in(plan.setting, *this, variant, given);
  if (failure && !failure->context_lost) {
    // What was enqueued all the same must not meet the next trial.
    if (LaunchFailure worse = wait()) failure = worse;
  }
  deadline_.lift();
  if (!failure) learn_pace(c, std::chrono::duration<double>(Clock::now() - launched_).count());
  return failure;
}

// Where hardly anything runs beside it a step along k takes no longer than anywhere else. What is
// short may have waited for something.
void CudaMachine::learn_pace(const Case& c, double seconds) {
  constexpr std::int64_t few_elements = 64, many_steps = 1 << 14;
  constexpr double long_enough = 5e-3;
  if (c.m * c.n <= few_elements && c.k >= many_steps && seconds >= long_enough)
    seconds_of_a_step_ = std::max(seconds_of_a_step_, seconds / static_cast<double>(c.k));
}

std::optional<Reference> CudaMachine::reference(const Case& c, const Operands& operands) {
  return make_device_reference(c, operands);
}

std::string CudaMachine::disagreement(const Case& c) { return disagreement_with_cublas(c); }

bool CudaMachine::has_holes() const {
  return std::any_of(slots.begin(), slots.end(),
                     [](const Slot& s) { return !s.unreadable && s.is_sparse; });
}

LaunchFailure CudaMachine::start(const Variant& variant, const Given& given, cudaStream_t into) {
  cudaGetLastError();  // what was left by a stream that was spoilt on purpose, and destroyed since
  cudaError_t returned = cudaSuccess;
  const std::string thrown =
      thrown_by([&] { returned = variant.launch(given, into, given.workspace); });
  const cudaError_t recorded = cudaGetLastError();
  int current = device;
  cudaGetDevice(&current);
  if (current != device) {
    cuda_check(cudaSetDevice(device), "cudaSetDevice");
    return launch_crashed("launch changed the current device, and left it so");
  }
  if (!thrown.empty()) return launch_crashed(thrown);
  left_error_ |= returned == cudaErrorInvalidValue && has_holes();
  if (returned == cudaErrorInvalidValue && has_holes())
    return Verdict{.status = TrialStatus::refused,
                   .reason =
                       "launch returned cudaErrorInvalidValue, as a copy by CUDA does where "
                       "what lies between the rows is no memory"};
  if (returned != cudaSuccess) return launch_returned(cudaGetErrorName(returned), given);
  if (recorded != cudaSuccess) {
    return launch_crashed(
        fmt::format("a launch failed with {}, but the variant returned cudaSuccess",
                    cudaGetErrorName(recorded)));
  }
  return std::nullopt;
}

LaunchFailure CudaMachine::wait() {
  // The time limit holds for the streams that are known here, and for the default stream, which
  // gets the work of a launch that ignores its own.
  for (int polls = 0;; ++polls) {
    cudaError_t state = cudaSuccess;
    for (cudaStream_t known : {cudaStream_t(stream), cudaStream_t(beside), cudaStreamLegacy})
      if (state == cudaSuccess) state = cudaStreamQuery(known);
    if (state == cudaSuccess) break;
    if (state != cudaErrorNotReady) return crashed(state);
    if (Clock::now() - launched_ > limit_) {
      return context_lost(
          TrialStatus::hung, Fault::never_ends,
          fmt::format("the kernel was still running after {:.3g} s", limit_.count()));
    }
    if (polls > 1000) std::this_thread::yield();
  }
  const cudaError_t error = cudaDeviceSynchronize();  // work that went to another stream
  if (error != cudaSuccess) return crashed(error);
  return std::nullopt;
}

LaunchFailure CudaMachine::run(const Variant& variant, const Given& given) {
  LaunchFailure failure = start(variant, given, stream);
  return failure ? failure : wait();
}

void CudaMachine::copy(std::byte* to, const std::byte* from, std::size_t bytes) {
  cuda_check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream),
             "copying on the GPU");
}

std::vector<std::byte> CudaMachine::to_host(const std::byte* from, std::size_t bytes) {
  std::vector<std::byte> host(bytes);
  cuda_check(cudaMemcpyAsync(host.data(), from, bytes, cudaMemcpyDeviceToHost, stream),
             "copying from the GPU");
  cuda_check(cudaStreamSynchronize(stream), "copying from the GPU");
  return host;
}

std::unique_ptr<Machine> make_cuda_machine(const Resources& resources) {
  if (const std::string why = why_no_gpu(); !why.empty()) throw Unavailable(why);
  return std::make_unique<CudaMachine>(resources);
}

}  // namespace assay
