#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "oracle/diagnosis/whereabouts.h"
#include "oracle/machine.h"
#include "simt/simt.h"

namespace assay {
namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t fence = std::size_t{1} << 20;
constexpr std::ptrdiff_t forbidden_bytes = std::ptrdiff_t{1} << 38;  // of each unreadable operand

std::size_t whole_pages(std::size_t bytes) { return (bytes + page - 1) / page * page; }

// Memory between two fences.
class Region {
 public:
  Region() = default;
  ~Region() { release(); }
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

  // Reserves addresses, all of which fault until they are opened.
  void reserve(std::size_t bytes) {
    opened_.clear();
    if (whole_pages(bytes) > size_) {
      release();
      size_ = std::max(whole_pages(bytes), std::size_t{1} << 16);
      void* memory = mmap(nullptr, size_ + 2 * fence, PROT_NONE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (memory == MAP_FAILED) throw std::bad_alloc();
      base_ = static_cast<std::byte*>(memory) + fence;
    } else if (mprotect(base_, size_, PROT_NONE) != 0) {
      throw std::bad_alloc();
    }
  }
  void open(std::byte* first, std::size_t bytes) {
    std::byte* const begin = first - reinterpret_cast<std::uintptr_t>(first) % page;
    const std::size_t length = whole_pages(static_cast<std::size_t>(first - begin) + bytes);
    if (mprotect(begin, length, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
    opened_.push_back({begin, length});
  }
  // Of all that was opened, for now.
  void protect(int access) const {
    for (const auto& [begin, length] : opened_) mprotect(begin, length, access);
  }
  void release() {
    if (base_ != nullptr) munmap(base_ - fence, size_ + 2 * fence);
    base_ = nullptr;
    size_ = 0;
  }

  // Leaves nothing of an earlier trial in the rest of the first and the last page of a range.
  void poison_beside(std::byte* first, std::size_t bytes) {
    const auto fill = [](std::byte* begin, std::byte* end) {
      std::fill(reinterpret_cast<std::uint32_t*>(begin), reinterpret_cast<std::uint32_t*>(end),
                guard_bits);
    };
    std::byte* const last = first + bytes;
    fill(first - reinterpret_cast<std::uintptr_t>(first) % page, first);
    fill(last, last + (page - reinterpret_cast<std::uintptr_t>(last) % page) % page);
  }

  std::byte* end() const { return base_ + size_; }

 private:
  std::byte* base_ = nullptr;
  std::size_t size_ = 0;
  std::vector<std::pair<std::byte*, std::size_t>> opened_;
};

std::size_t bytes_of(std::int64_t floats) {
  return static_cast<std::size_t>(floats) * sizeof(float);
}

// Addresses that nobody may touch, as many as the largest operand could need.
std::byte* forbidden_memory() {
  static void* const memory = mmap(nullptr, std::size_t{1} << 40, PROT_NONE,
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return static_cast<std::byte*>(memory);
}

Fault fault_of(simt::FaultKind kind) {
  using simt::FaultKind;
  switch (kind) {
    case FaultKind::host_access: return Fault::host_access;
    case FaultKind::launch_refused: return Fault::launch_refused;
    case FaultKind::barrier_not_reached: return Fault::barrier_not_reached;
    case FaultKind::warp_not_reached: return Fault::warp_not_reached;
    case FaultKind::never_ends: return Fault::never_ends;
    case FaultKind::misaligned_access: return Fault::misaligned_access;
    case FaultKind::bad_address: return Fault::bad_address;
    case FaultKind::stack_overflow: return Fault::stack_overflow;
    case FaultKind::array_overrun: return Fault::array_overrun;
    case FaultKind::bad_instruction: return Fault::bad_instruction;
  }
  return Fault::unnamed;
}

class CpuMachine : public Machine, private simt::DeviceMemory {
 public:
  explicit CpuMachine(Backend backend) : backend_(backend) {}

  float* place(Operand o, const Image& image, Placement placement) override {
    Slot& slot = slots_[static_cast<std::size_t>(o)];
    Placed& placed = placed_[static_cast<std::size_t>(o)];
    placed = {.rows = image.rows,
              .columns = image.columns,
              .ld = image.ld,
              .unreadable = placement == Placement::unreadable};
    slot.unreadable = placed.unreadable;
    if (slot.unreadable) {
      slot.first = forbidden_memory() + forbidden_bytes * static_cast<std::ptrdiff_t>(o);
      placed.first = slot.first;
      return reinterpret_cast<float*>(slot.first);
    }
    const std::size_t bytes = bytes_of(image.spread());
    slot.region.reserve(bytes);
    // Flush with the end of its pages, or with their beginning; everything around them faults.
    std::byte* const start =
        slot.region.end() - (placement == Placement::begins_at_fence ? whole_pages(bytes) : bytes);
    slot.first = start + bytes_of(image.first);
    placed.first = slot.first;
    for (const Piece& piece : pieces_of(image)) {
      std::byte* const to = slot.first + piece.at * static_cast<std::int64_t>(sizeof(float));
      const std::size_t length = bytes_of(piece.end - piece.begin);
      slot.region.open(to, length);
      slot.region.poison_beside(to, length);
      std::memcpy(to, image.floats.data() + piece.begin, length);
    }
    return reinterpret_cast<float*>(slot.first);
  }

  void fetch(Operand o, Image& image) override {
    const Slot& slot = slots_[static_cast<std::size_t>(o)];
    for (const Piece& piece : pieces_of(image)) {
      std::memcpy(image.floats.data() + piece.begin,
                  slot.first + piece.at * static_cast<std::int64_t>(sizeof(float)),
                  bytes_of(piece.end - piece.begin));
    }
  }

  std::string disagreement(const Case& c) override {
    const Operands images = make_operands(c, Placement::guarded, {4, 4, 4});
    if (agree(make_reference(c, images), make_plain_reference(c, images), c.k)) return "";
    return fmt::format("Eigen and plain loops differ on {}", to_string(c));
  }

  LaunchFailure launch(const Variant& variant, const Gemm& gemm, const Case& c, const Plan& plan,
                       const Resources&) override {
    cudaError_t error = cudaSuccess;
    std::string thrown;
    const auto call = [&] { thrown = thrown_by([&] { error = variant.launch(gemm, nullptr); }); };
    simt::Observation seen;
    if (backend_ == Backend::host) {
      call();
    } else {
      simt::Settings settings = settings_of(c, plan);
      settings.device_memory = this;
      seen = simt::observe(settings, call);
    }
    remark_ = std::move(seen.remark);
    computed_ = backend_ == Backend::host || seen.kernels > 0;
    if (seen.fault) return verdict_on(*seen.fault);
    const bool reported = error != cudaSuccess || !thrown.empty();
    if (plan.setting == Setting::broken_stream)
      return reported ? std::nullopt : error_not_reported();
    if (!thrown.empty()) return launch_crashed(thrown);
    if (error != cudaSuccess) return launch_returned(cudaGetErrorName(error), gemm);
    return std::nullopt;
  }

  std::string remark() const override { return remark_; }
  bool has_computed() const override { return computed_; }

 private:
  struct Slot {
    Region region;
    std::byte* first = nullptr;  // element (0, 0)
    bool unreadable = false;
  };

  void open() override { protect(PROT_READ | PROT_WRITE); }
  void close() override { protect(PROT_NONE); }
  void protect(int access) const {
    for (const Slot& slot : slots_) {
      if (!slot.unreadable) slot.region.protect(access);
    }
  }

  static simt::Settings settings_of(const Case& c, const Plan& plan) {
    constexpr std::array orders = {simt::Order::forward, simt::Order::reverse,
                                   simt::Order::shuffled};
    const bool interrupted = plan.order == ThreadOrder::interrupted;
    const std::size_t order = interrupted ? 2
                              : plan.order == ThreadOrder::by_seed
                                  ? c.seed % 3
                                  : static_cast<std::size_t>(plan.order) - 1;
    // Some ten times as long as slow but right kernels take on a slow core: one thread for all
    // elements, a warp for each of them, a block that meets at a barrier for every step along k.
    const double elements = static_cast<double>(c.m) * static_cast<double>(c.n);
    const double slowness = interrupted ? 50 : 1;
    return {.order = orders[order],
            .seed = c.seed,
            .cpu_seconds = 1 + slowness * (50e-9 * c.multiply_adds() + 200e-9 * elements),
            .cpu_seconds_per_thread = slowness * (20e-6 + 200e-9 * static_cast<double>(c.k)),
            .refuses_launches = plan.setting == Setting::broken_stream,
            .ordinary_shared = has_ordinary_shared(c, plan),
            .interrupt_accesses = interrupted};
  }

  Verdict verdict_on(const simt::Fault& fault) const {
    const bool never_ends = fault.kind == simt::FaultKind::never_ends;
    Diagnosis where{{fault_of(fault.kind)}, ""};
    const bool by_host = fault.kind == simt::FaultKind::host_access;
    if ((by_host || fault.kind == simt::FaultKind::bad_address) && fault.address != nullptr) {
      where = whereabouts(fault.address, placed_, {fence, forbidden_bytes});
      if (by_host) {  // it may lie anywhere in an operand
        where.finding.fault = fault_of(fault.kind);
        if (where.finding.operand) where.words = to_string(*where.finding.operand);
      }
    }
    return {.status = never_ends ? TrialStatus::hung : TrialStatus::crashed,
            .finding = where.finding,
            .reason = fmt::format("{}: {}{}{}", to_string(fault.kind), fault.text,
                                  where.words.empty() ? "" : ": ", where.words)};
  }

  Backend backend_;
  std::array<Slot, 3> slots_;
  std::array<Placed, 3> placed_;
  std::string remark_;
  bool computed_ = false;
};

}  // namespace

std::unique_ptr<Machine> make_cpu_machine(Backend backend) {
  return std::make_unique<CpuMachine>(backend);
}

}  // namespace assay
