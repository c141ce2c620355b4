#include "oracle/watched/sparse.h"

#include <sys/mman.h>

#include <algorithm>
#include <limits>
#include <map>
#include <new>
#include <utility>
#include <vector>

#include "kernels/registry.h"
#include "oracle/host/addresses.h"

namespace assay {
namespace {

constexpr std::int64_t page_floats = 1024;
constexpr double most_floats = 0x1p38;

// The first `count` numbers of a fill, or more. They are kept: runs of one kernel mostly ask for
// the same ones.
const std::vector<float>& numbers_of(Fill fill, std::uint64_t seed, std::int64_t count) {
  constexpr std::size_t most_kept = 16;
  struct Numbers {
    std::uint64_t state;  // behind the last
    std::vector<float> all;
  };
  thread_local std::map<std::pair<Fill, std::uint64_t>, Numbers> kept;
  if (kept.size() > most_kept) kept.clear();
  auto& [state, all] = kept.try_emplace({fill, seed}, Numbers{seed, {}}).first->second;
  while (all.size() < static_cast<std::size_t>(count)) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const auto number = static_cast<std::int32_t>(state >> 40) % 9;
    const auto whole = static_cast<float>(number);
    all.push_back(fill == Fill::uniform ? whole / 8.5f : whole);
    if (fill == Fill::special && number == 7) all.back() = std::numeric_limits<float>::infinity();
    if (fill == Fill::special && number == 8) all.back() = std::numeric_limits<float>::quiet_NaN();
  }
  return all;
}

}  // namespace

Sparse::Sparse(std::int64_t rows, std::int64_t ld, int offset)
    : floats_(rows * ld + offset), mapped_((floats_ / page_floats + 2) * page_floats) {
  base_ = addresses_between_fences(bytes(), fence);
  if (mprotect(base_, bytes(), PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
  first_ = reinterpret_cast<float*>(base_) + offset;
}

Sparse::~Sparse() { give_back_addresses(base_, bytes(), fence); }

void Sparse::fill(Fill fill, std::uint64_t seed, std::int64_t floats) {
  const std::int64_t count = std::min(floats, floats_);
  const std::vector<float>& numbers = numbers_of(fill, seed, count);
  std::copy_n(numbers.begin(), count, first_);
}

std::unique_ptr<Sparse> give_workspace(const Variant& variant, Given& given) {
  const std::int64_t bytes = workspace_of(variant, given);
  const std::int64_t floats = ceil_div(bytes, sizeof(float));
  if (bytes <= 0 || static_cast<double>(floats) > most_floats) return nullptr;
  auto workspace = std::make_unique<Sparse>(1, floats, 0);
  given.workspace = workspace->first();
  return workspace;
}

bool is_too_large(const Case& c) {
  const auto floats = [](std::int64_t rows, std::int64_t columns, Gap gap) {
    return static_cast<double>(rows) * static_cast<double>(columns + gap.floats);
  };
  return std::max({floats(c.m, c.k, c.lda), floats(c.k, c.n, c.ldb), floats(c.m, c.n, c.ldc)}) >
         most_floats;
}

}  // namespace assay
