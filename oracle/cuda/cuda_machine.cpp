#include "oracle/cuda/cuda_machine.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "base/errors.h"
#include "oracle/cuda/cuda_check.h"
#include "oracle/cuda/cuda_reference.h"
#include "oracle/cuda/device_kernels.h"
#include "oracle/cuda/device_region.h"
#include "oracle/cuda/gpu_info.h"
#include "oracle/deadline.h"

namespace assay {
namespace {

using Clock = std::chrono::steady_clock;

class Stream {
 public:
  Stream() {
    cuda_check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
  }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  operator cudaStream_t() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

// One operand on the device: the image, and where element (0, 0) is.
struct Slot {
  DeviceRegion region, sparse;
  std::byte* image = nullptr;
  std::size_t bytes = 0;
  float* first = nullptr;
  bool unreadable = false;
};

std::size_t bytes_of(std::int64_t floats) {
  return static_cast<std::size_t>(floats) * sizeof(float);
}

int current_device() {
  int device = 0;
  cuda_check(cudaGetDevice(&device), "cudaGetDevice");
  return device;
}

class CudaMachine : public Machine {
 public:
  float* place(Operand o, const Image& image, Placement placement) override {
    Slot& slot = slots_[static_cast<std::size_t>(o)];
    slot.unreadable = placement == Placement::unreadable;
    if (slot.unreadable) {
      return slot.first = reinterpret_cast<float*>(
                 forbidden_device_memory() + (std::size_t{1} << 38) * static_cast<std::size_t>(o));
    }
    DeviceRegion& region = image.is_sparse() ? slot.sparse : slot.region;
    slot.bytes = bytes_of(image.spread());
    image.is_sparse() ? region.reserve_sparse(slot.bytes) : region.reserve(slot.bytes);
    slot.image = placement == Placement::ends_at_fence ? region.end() - slot.bytes : region.begin();
    slot.first = reinterpret_cast<float*>(slot.image) + image.first;
    if (image.is_sparse()) open_rows(slot, image);
    for (const Piece& piece : pieces_of(image)) {
      cuda_check(
          cudaMemcpyAsync(slot.first + piece.at, image.floats.data() + piece.begin,
                          bytes_of(piece.end - piece.begin), cudaMemcpyHostToDevice, stream_),
          "copying an operand to the GPU");
    }
    return slot.first;
  }

  void fetch(Operand o, Image& image) override {
    const Slot& slot = slots_[static_cast<std::size_t>(o)];
    for (const Piece& piece : pieces_of(image)) {
      cuda_check(
          cudaMemcpyAsync(image.floats.data() + piece.begin, slot.first + piece.at,
                          bytes_of(piece.end - piece.begin), cudaMemcpyDeviceToHost, stream_),
          "copying an operand back from the GPU");
    }
    cuda_check(cudaStreamSynchronize(stream_), "copying an operand back from the GPU");
  }

  Outcome launch(const Variant& variant, const Gemm& gemm, const Schedule& schedule) override {
    cuda_check(cudaDeviceSynchronize(), "preparing a launch");  // nothing of the last trial runs on
    cudaGetLastError();
    launched_ = Clock::now();
    limit_ = std::chrono::duration<double>(schedule.seconds);
    deadline_.set(schedule.seconds + seconds_to_notice);
    Outcome outcome = run_in(schedule.setting, variant, gemm);
    if (outcome.kind == Outcome::Kind::failed) {
      // What was enqueued all the same must not meet the next trial.
      if (Outcome rest = wait(); rest.kind != Outcome::Kind::done) outcome = rest;
    }
    deadline_.lift();
    return outcome;
  }

  std::optional<Reference> reference(const Case& c, const Operands& operands) override {
    return make_device_reference(c, operands);
  }

  std::string disagreement(const Case& c) override { return disagreement_with_cublas(c); }

 private:
  // After its time a launch is given up; this much later so is a call that does not come back.
  static constexpr double seconds_to_notice = 3;

  Outcome run_in(Setting setting, const Variant& variant, const Gemm& gemm) {
    switch (setting) {
      case Setting::plain:
        return run(variant, gemm, stream_);
      case Setting::slow_producer:
        return run_behind_slow_producer(variant, gemm);
      case Setting::graph:
        return run_as_graph(variant, gemm);
      case Setting::broken_stream:
        return run_into_broken_stream(variant, gemm);
      case Setting::two_streams:
        return run_beside_another(variant, gemm);
      case Setting::busy_gpu:
        return run_on_busy_gpu(variant, gemm);
    }
    return {};
  }

  static Outcome failed(std::string text) { return {Outcome::Kind::failed, std::move(text)}; }
  // Of a call that fails by what the variant has done.
  static Outcome unless_failed(const char* text, cudaError_t error) {
    if (error == cudaSuccess) return {};
    cudaGetLastError();  // else the harness would take it for its own
    return failed(fmt::format("{}: {}", text, cudaGetErrorName(error)));
  }
  static Outcome crashed(cudaError_t error) {
    return {Outcome::Kind::crashed,
            fmt::format("{}: {}", cudaGetErrorName(error), cudaGetErrorString(error)), true};
  }

  static void open_rows(Slot& slot, const Image& image) {
    std::vector<std::span<std::byte>> rows;
    for (const Piece& piece : pieces_of(image)) {
      rows.emplace_back(reinterpret_cast<std::byte*>(slot.first + piece.at),
                        bytes_of(piece.end - piece.begin));
    }
    slot.sparse.open_only(rows);
  }

  // Calls the variant's launch function: its own answer, and what it did not say.
  Outcome start(const Variant& variant, const Gemm& gemm, cudaStream_t stream) {
    cudaError_t answer = cudaSuccess;
    const std::string thrown = thrown_by([&] { answer = variant.launch(gemm, stream); });
    const cudaError_t recorded = cudaGetLastError();
    int device = device_;
    cudaGetDevice(&device);
    if (device != device_) {
      cuda_check(cudaSetDevice(device_), "cudaSetDevice");
      return failed("launch changed the current device, and left it so");
    }
    if (!thrown.empty()) return failed(thrown);
    if (answer != cudaSuccess)
      return failed(fmt::format("launch returned {}", cudaGetErrorName(answer)));
    if (recorded != cudaSuccess) {
      return failed(fmt::format("a launch failed with {}, but the variant returned cudaSuccess",
                                cudaGetErrorName(recorded)));
    }
    return {};
  }

  // Waits for all work on the GPU, of whatever stream; until its time is over for that in streams
  // which are known here: also the default stream, where a launch that forgets its own goes.
  Outcome wait() {
    for (int polls = 0;; ++polls) {
      cudaError_t state = cudaSuccess;
      for (cudaStream_t stream : {cudaStream_t(stream_), cudaStream_t(beside_), cudaStreamLegacy})
        if (state == cudaSuccess) state = cudaStreamQuery(stream);
      if (state == cudaSuccess) break;
      if (state != cudaErrorNotReady) return crashed(state);
      if (Clock::now() - launched_ > limit_)
        return {Outcome::Kind::hung,
                fmt::format("the kernel was still running after {:.3g} s", limit_.count()), true};
      if (polls > 1000) std::this_thread::yield();
    }
    const cudaError_t error = cudaDeviceSynchronize();  // work that went to another stream
    return error == cudaSuccess ? Outcome{} : crashed(error);
  }

  Outcome run(const Variant& variant, const Gemm& gemm, cudaStream_t stream) {
    Outcome outcome = start(variant, gemm, stream);
    if (outcome.kind == Outcome::Kind::done) outcome = wait();
    return outcome;
  }

  // After one launch as usual: the driver loads a kernel at its first, which takes longer than the
  // producer does.
  Outcome run_behind_slow_producer(const Variant& variant, const Gemm& gemm) {
    for (std::size_t i = 0; i < 3; ++i) {
      if (slots_[i].unreadable) continue;
      kept_[i].reserve(slots_[i].bytes);
      copy(kept_[i].begin(), slots_[i].image, slots_[i].bytes);
    }
    if (Outcome first = run(variant, gemm, stream_); first.kind != Outcome::Kind::done)
      return first;
    for (std::size_t i = 0; i < 3; ++i) {
      if (slots_[i].unreadable) continue;
      cuda_check(cudaMemsetAsync(slots_[i].image, 0xff, slots_[i].bytes, stream_),
                 "poisoning an operand");  // NaN
    }
    cuda_check(cudaStreamSynchronize(stream_), "poisoning the operands");
    enqueue_spin(1'000'000, stream_);  // far longer than it takes to launch
    for (std::size_t i = 0; i < 3; ++i) {
      if (!slots_[i].unreadable) copy(slots_[i].image, kept_[i].begin(), slots_[i].bytes);
    }
    return run(variant, gemm, stream_);
  }

  // After one launch as usual: the first may set up what it keeps, such as a library's handle.
  Outcome run_as_graph(const Variant& variant, const Gemm& gemm) {
    const Slot& c = slots_[static_cast<std::size_t>(Operand::c)];
    DeviceRegion& before = kept_[2];
    before.reserve(c.bytes);
    copy(before.begin(), c.image, c.bytes);
    if (Outcome first = run(variant, gemm, stream_); first.kind != Outcome::Kind::done)
      return first;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    Outcome outcome = capture(variant, gemm, graph);
    if (outcome.kind == Outcome::Kind::done) {
      outcome = unless_failed("its graph cannot be instantiated",
                              cudaGraphInstantiate(&executable, graph, 0));
    }
    for (int replay = 0; replay < 2 && outcome.kind == Outcome::Kind::done; ++replay) {
      copy(c.image, before.begin(), c.bytes);
      // The second fails where the first has left memory that it allocated.
      outcome = unless_failed("its graph cannot be replayed", cudaGraphLaunch(executable, stream_));
      if (outcome.kind == Outcome::Kind::done) outcome = wait();
    }
    if (outcome.context_lost) return outcome;  // to destroy what still runs would wait for it
    if (executable != nullptr) cudaGraphExecDestroy(executable);
    if (graph != nullptr) cudaGraphDestroy(graph);
    return outcome;
  }

  Outcome capture(const Variant& variant, const Gemm& gemm, cudaGraph_t& graph) {
    cuda_check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal),
               "cudaStreamBeginCapture");
    const Outcome launched = start(variant, gemm, stream_);
    const cudaError_t captured = cudaStreamEndCapture(stream_, &graph);
    if (launched.kind != Outcome::Kind::done) {
      cudaGetLastError();
      return failed("while it was captured: " + launched.text);
    }
    return unless_failed("it cannot be captured", captured);
  }

  // A capture that was spoilt refuses whatever is launched into its stream.
  Outcome run_into_broken_stream(const Variant& variant, const Gemm& gemm) {
    Stream broken;
    cuda_check(cudaStreamBeginCapture(broken, cudaStreamCaptureModeRelaxed),
               "cudaStreamBeginCapture");
    cudaStreamSynchronize(broken);  // not permitted while capturing, which spoils the capture
    cudaGetLastError();
    cudaError_t answer = cudaErrorUnknown;
    thrown_by([&] { answer = variant.launch(gemm, broken); });  // which says it too
    cudaGraph_t graph = nullptr;
    cudaStreamEndCapture(broken, &graph);
    cudaGetLastError();
    Outcome outcome = wait();
    if (outcome.kind == Outcome::Kind::done && answer == cudaSuccess) {
      return failed("every launch into its stream failed, and the variant returned cudaSuccess");
    }
    return outcome;
  }

  // A second set of operands with other numbers: each launch must leave what it leaves when it runs
  // alone.
  Outcome run_beside_another(const Variant& variant, const Gemm& gemm) {
    std::array<DeviceRegion, 3>& other = kept_;
    Gemm second = gemm;
    for (std::size_t i = 0; i < 3; ++i) {
      other[i].reserve(slots_[i].bytes);
      copy(other[i].begin(), slots_[i].image, slots_[i].bytes);
    }
    const auto moved = [&](const float* first, std::size_t i) {
      return reinterpret_cast<float*>(
          other[i].begin() + (reinterpret_cast<const std::byte*>(first) - slots_[i].image));
    };
    second.a = moved(gemm.a, 0), second.b = moved(gemm.b, 1), second.c = moved(gemm.c, 2);
    const auto floats = static_cast<std::int64_t>(slots_[0].bytes / sizeof(float));
    enqueue_double_numbers(reinterpret_cast<float*>(other[0].begin()), floats, stream_);

    const Slot& c = slots_[2];
    DeviceRegion& before = scratch_;
    before.reserve(c.bytes);
    copy(before.begin(), c.image, c.bytes);
    const auto alone = [&](const Gemm& g, std::byte* image, std::vector<std::byte>& result) {
      Outcome outcome = run(variant, g, stream_);
      if (outcome.kind == Outcome::Kind::done) {
        result = to_host(image, c.bytes);
        copy(image, before.begin(), c.bytes);
      }
      return outcome;
    };
    std::vector<std::byte> first_alone, second_alone;
    if (Outcome outcome = alone(gemm, c.image, first_alone); outcome.kind != Outcome::Kind::done)
      return outcome;
    if (Outcome outcome = alone(second, other[2].begin(), second_alone);
        outcome.kind != Outcome::Kind::done)
      return outcome;
    cuda_check(cudaStreamSynchronize(stream_), "restoring C");

    enqueue_spin(50'000, stream_);  // both are enqueued before either can start
    enqueue_spin(50'000, beside_);
    for (Outcome outcome : {start(variant, gemm, stream_), start(variant, second, beside_), wait()})
      if (outcome.kind != Outcome::Kind::done) return outcome;
    if (!variant.deterministic) return {};
    const bool undisturbed = to_host(c.image, c.bytes) == first_alone &&
                             to_host(other[2].begin(), c.bytes) == second_alone;
    return undisturbed ? Outcome{}
                       : failed(
                             "two launches at a time on two streams leave other bits than one "
                             "after the other");
  }

  Outcome run_on_busy_gpu(const Variant& variant, const Gemm& gemm) {
    const Slot& c = slots_[static_cast<std::size_t>(Operand::c)];
    const std::vector<std::byte> before = to_host(c.image, c.bytes);
    if (Outcome outcome = run(variant, gemm, stream_); outcome.kind != Outcome::Kind::done)
      return outcome;
    const std::vector<std::byte> alone = to_host(c.image, c.bytes);
    cuda_check(cudaMemcpyAsync(c.image, before.data(), c.bytes, cudaMemcpyHostToDevice, stream_),
               "restoring C");
    cuda_check(cudaStreamSynchronize(stream_), "restoring C");

    constexpr std::int64_t noise_floats = 1 << 22;
    scratch_.reserve(noise_floats * sizeof(float));
    enqueue_bustle(reinterpret_cast<float*>(scratch_.begin()), noise_floats, 30, beside_);
    Outcome outcome = run(variant, gemm, stream_);
    if (outcome.kind != Outcome::Kind::done || !variant.deterministic) return outcome;
    return to_host(c.image, c.bytes) == alone
               ? Outcome{}
               : failed("other bits while another stream keeps the GPU busy");
  }

  void copy(std::byte* to, const std::byte* from, std::size_t bytes) {
    cuda_check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream_),
               "copying on the GPU");
  }
  std::vector<std::byte> to_host(const std::byte* from, std::size_t bytes) {
    std::vector<std::byte> copy(bytes);
    cuda_check(cudaMemcpyAsync(copy.data(), from, bytes, cudaMemcpyDeviceToHost, stream_),
               "copying from the GPU");
    cuda_check(cudaStreamSynchronize(stream_), "copying from the GPU");
    return copy;
  }

  int device_ = current_device();
  Deadline deadline_;
  // What a trial needs is kept for the next: mapping memory and making streams waits for every
  // other process that is at it on this host.
  Stream stream_, beside_;
  std::array<Slot, 3> slots_;
  std::array<DeviceRegion, 3> kept_;  // copies of the operands
  DeviceRegion scratch_;
  Clock::time_point launched_;
  std::chrono::duration<double> limit_;
};

}  // namespace

// The one of this worker's number, where there are several.
int chosen_device() {
  const char* number = std::getenv("ASSAY_WORKER");
  return number == nullptr ? 0 : std::atoi(number) % gpu_count();
}

std::unique_ptr<Machine> make_cuda_machine() {
  if (const std::string why = why_no_gpu(); !why.empty()) throw Unavailable(why);
  cuda_check(cudaSetDevice(chosen_device()), "cudaSetDevice");
  return std::make_unique<CudaMachine>();
}

}  // namespace assay
