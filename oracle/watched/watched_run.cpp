#include "oracle/watched/watched_run.h"

#include <sys/mman.h>

#include <algorithm>
#include <limits>
#include <new>

#include "oracle/operands.h"
#include "oracle/plan.h"
#include "simt/simt.h"

namespace assay {
namespace {

constexpr std::int64_t page_floats = 1024;
constexpr double most_floats = 0x1p38;
constexpr std::int64_t filled_floats = 1 << 14;  // the others are 0
constexpr std::uint64_t calls_to_begin = 3000, calls_of_a_stop = 3;

// An operand in memory of its own, which appears page by page as it is touched.
class Sparse {
 public:
  Sparse(std::int64_t rows, std::int64_t ld, int offset)
      : floats_(rows * ld + offset), mapped_((floats_ / page_floats + 2) * page_floats) {
    void* const memory = mmap(nullptr, bytes(), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    base_ = static_cast<float*>(memory);
    first_ = base_ + offset;
  }
  ~Sparse() { munmap(base_, bytes()); }
  Sparse(const Sparse&) = delete;
  Sparse& operator=(const Sparse&) = delete;

  float* first() const { return first_; }
  // With small numbers in no order; with some that are none for the fill `special`.
  void fill(Fill fill, std::uint64_t seed) {
    std::uint64_t state = seed;
    for (std::int64_t i = 0; i < std::min(filled_floats, floats_); ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      const auto number = static_cast<std::int32_t>(state >> 40) % 9;
      first_[i] =
          fill == Fill::uniform ? static_cast<float>(number) / 8.5f : static_cast<float>(number);
      if (fill == Fill::special && number == 7) first_[i] = std::numeric_limits<float>::infinity();
      if (fill == Fill::special && number == 8) first_[i] = std::numeric_limits<float>::quiet_NaN();
    }
  }

 private:
  std::size_t bytes() const { return static_cast<std::size_t>(mapped_) * sizeof(float); }
  std::int64_t floats_, mapped_;
  float *base_, *first_;
};

bool is_too_large(const Case& c) {
  const auto floats = [](std::int64_t rows, std::int64_t columns, Gap gap) {
    return static_cast<double>(rows) * static_cast<double>(columns + gap.floats);
  };
  return std::max({floats(c.m, c.k, c.lda), floats(c.k, c.n, c.ldb), floats(c.m, c.n, c.ldc)}) >
         most_floats;
}

}  // namespace

std::uint64_t WatchedRun::cost() const {
  return calls + threads + calls_of_a_stop * stops + calls_to_begin;
}

WatchedRun watched_run(const Entry& entry, const Case& c, std::uint64_t most_calls) {
  if (is_too_large(c)) return {};
  Sparse a(c.m, c.k + c.lda.floats, c.offset.floats[0]);
  Sparse b(c.k, c.n + c.ldb.floats, c.offset.floats[1]);
  Sparse result(c.m, c.n + c.ldc.floats, c.offset.floats[2]);
  a.fill(c.fill, c.seed);
  b.fill(c.fill, c.seed + 1);
  const Gemm gemm = gemm_of(c, a.first(), b.first(), result.first());
  if (!refusal(entry.variant, gemm).empty()) return {};

  simt::Watch watch(most_calls);
  const simt::Settings settings = {
      .order = c.seed % 2 == 0 ? simt::Order::forward : simt::Order::reverse,
      .seed = c.seed,
      .cpu_seconds = 10,
      .ordinary_shared = has_ordinary_shared(c),
      .watch = &watch};
  const simt::Observation seen = simt::observe(settings, [&] {
    try {
      entry.watched_launch(gemm, nullptr);
    } catch (const std::exception&) {  // which a trial reports
    }
  });
  const bool was_ended = seen.fault && seen.fault->kind == simt::FaultKind::never_ends;
  return {watch.comparisons(), watch.calls(), seen.threads, seen.stops,
          was_ended && watch.calls() < most_calls};
}

}  // namespace assay
