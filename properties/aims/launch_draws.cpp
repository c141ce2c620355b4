#include "properties/aims/launch_draws.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "properties/aims/inputs.h"
#include "properties/fitting.h"

namespace assay {
namespace {

constexpr std::int64_t wide_gap = 1 << 17;
constexpr std::size_t most_kept = 64;

}  // namespace

void LaunchDraws::keep(const DryLaunch& d) {
  if (kept_.size() < most_kept) kept_.push_back(d);
}

void LaunchDraws::use(std::vector<std::int64_t> whole, std::vector<float> floats) {
  whole_ = std::move(whole), floats_ = std::move(floats);
}

void LaunchDraws::limit_sizes() { largest_ = std::max<std::int64_t>(1 << 12, largest_ / 2); }

DryLaunch LaunchDraws::draw() {
  const std::int64_t kind = dice_.between(1, 8);
  return last_ = fitted(kind == 1                     ? changed(last_)
                        : kind == 2 && !kept_.empty() ? changed(dice_.of(kept_))
                                                      : anew());
}

DryLaunch LaunchDraws::draw_after(const DryLaunch& d) { return fitted(changed(d)); }

DryLaunch LaunchDraws::fitted(DryLaunch d) const {
  lessen(d.c);
  d.c = assay::fitted(d.c, needs_);
  return d;
}

// Equal sizes stay equal.
void LaunchDraws::lessen(Case& c) const {
  while (c.multiply_adds() > most_products_ || static_cast<double>(c.m * c.n) > most_products_) {
    const std::int64_t largest = std::max({c.m, c.n, c.k});
    for (const auto size : {&Case::m, &Case::n, &Case::k}) {
      if (c.*size == largest) c.*size /= 2;
    }
  }
}

DryLaunch LaunchDraws::anew() {
  DryLaunch d;
  set_sizes(d.c);
  set_gaps(d.c);
  set_scalars(d.c);
  set_addresses(d);
  d.c.seed = static_cast<std::uint64_t>(dice_.between(0, 1));
  return d;
}

DryLaunch LaunchDraws::changed(DryLaunch d) {
  Case& c = d.c;
  switch (dice_.between(1, 14)) {
    case 1: break;
    case 2: std::swap(c.m, c.n); break;
    case 3: std::swap(c.m, c.k); break;
    case 4: std::swap(c.n, c.k); break;
    case 5: c.m = size(); break;
    case 6: c.n = size(); break;
    case 7: c.k = size(); break;
    case 8: set_gaps(c); break;
    case 9: c.alpha = scalar(); break;
    case 10: c.beta = scalar(); break;
    case 11: set_addresses(d); break;
    case 12: {  // as many elements of one matrix
      const auto from = dice_.of({&Case::m, &Case::n, &Case::k}),
                 to = dice_.of({&Case::m, &Case::n});
      const std::int64_t factor =
          dice_.of<std::int64_t>({2, 4, std::max<std::int64_t>(1, c.*from)});
      if (c.*from % factor == 0 && c.*to <= largest_ / factor) c.*from /= factor, c.*to *= factor;
      break;
    }
    case 13: {
      const auto size = dice_.of({&Case::m, &Case::n, &Case::k});
      c.*size =
          std::max<std::int64_t>(0, c.*size + dice_.of<std::int64_t>({-16, -2, -1, 1, 2, 16}));
      break;
    }
    case 14: {  // one distance alone
      const auto gap = dice_.of({&Case::lda, &Case::ldb, &Case::ldc});
      const std::int64_t row = gap == &Case::lda ? c.k : c.n;
      (c.*gap).floats = (c.*gap).floats == 0 ? std::max<std::int64_t>(1, this->gap(row)) : 0;
    }
  }
  return d;
}

std::int64_t LaunchDraws::size() {
  switch (dice_.between(1, whole_.empty() ? 7 : 8)) {
    case 1:
    case 2: return dice_.between(0, 16);
    case 3: return dice_.between(1, 300);
    case 4: return dice_.log_between(1, 1 << 13);
    case 5: return dice_.log_between(1, largest_);
    case 6: {  // beside a power of 2
      const auto power = std::int64_t{1} << dice_.between(0, 24);
      return std::max<std::int64_t>(0, power + dice_.between(-2, 2));
    }
    case 7: return dice_.between(1, 64) * (std::int64_t{1} << dice_.between(0, 8));
    default: {
      const std::int64_t near = dice_.of(whole_) * dice_.of<std::int64_t>({1, 1, 1, 2, 16});
      return std::clamp<std::int64_t>(near + dice_.between(-1, 2), 0, largest_);
    }
  }
}

void LaunchDraws::set_sizes(Case& c) {
  const std::int64_t kind = dice_.between(1, 8);
  if (kind <= 2) {  // a table of plans, or a hash, may know each of them
    for (const auto size : {&Case::m, &Case::n, &Case::k}) c.*size = dice_.between(1, 40);
    return;
  }
  if (kind == 3) {  // of one magnitude
    const std::int64_t magnitude = dice_.log_between(8, 1 << 14);
    for (const auto size : {&Case::m, &Case::n, &Case::k})
      c.*size = dice_.between(magnitude, 2 * magnitude);
    return;
  }
  for (const auto size : {&Case::m, &Case::n, &Case::k}) c.*size = this->size();
  if (kind == 4) c.n = c.m;
  if (kind == 5) c.k = dice_.of({c.m, c.n});
  if (kind == 6) c.m = c.n = c.k;
}

std::int64_t LaunchDraws::gap(std::int64_t row) {
  switch (dice_.between(1, 6)) {
    case 1: return 0;
    case 2: return dice_.between(0, 64);
    case 3: return round_up(row + dice_.between(0, 8), dice_.of({4, 8, 32, 64, 1024})) - row;
    case 4: {  // some of the widest leave 32 bits as bytes
      const std::int64_t floats = dice_.log_between(1, wide_gap);
      return floats > wide_gap / 2 ? floats << 13 : floats;
    }
    default: {
      const std::int64_t distance =
          whole_.empty() || dice_.one_in(2)
              ? std::int64_t{1} << dice_.between(2, 17)
              : dice_.of(whole_) * dice_.between(1, 8) + dice_.between(-1, 1);
      return std::max<std::int64_t>(0, distance - row);
    }
  }
}

void LaunchDraws::set_gaps(Case& c) {
  c.lda.floats = c.ldb.floats = c.ldc.floats = 0;
  const std::int64_t kind = dice_.between(1, 4);
  if (kind <= 2) return;
  if (kind == 3) {  // equal distances
    const std::int64_t distance = std::max(c.n, c.k) + gap(std::max(c.n, c.k));
    c.lda.floats = distance - c.k, c.ldb.floats = c.ldc.floats = distance - c.n;
    return;
  }
  c.lda.floats = gap(c.k), c.ldb.floats = gap(c.n), c.ldc.floats = gap(c.n);
}

float LaunchDraws::scalar() {
  switch (dice_.between(1, 5)) {
    case 1: return dice_.of({0.0f, 1.0f, -1.0f, 2.0f, 0.5f});
    case 2: return static_cast<float>(dice_.between(-40, 40)) / dice_.of({1.0f, 4.0f, 10.0f});
    case 3: return floats_.empty() ? 1.5f : dice_.of(floats_);
    default: {
      const auto any =
          std::bit_cast<float>(static_cast<std::uint32_t>(dice_.between(0, 0xffffffff)));
      return std::isfinite(any) ? any : 1.5f;
    }
  }
}

void LaunchDraws::set_scalars(Case& c) {
  const std::int64_t kind = dice_.between(1, 4);
  c.alpha = kind == 1 ? 1.0f : kind == 2 ? 1.5f : scalar();
  c.beta = kind == 1 ? 0.0f : kind == 2 ? 0.5f : scalar();
}

void LaunchDraws::set_addresses(DryLaunch& d) {
  const std::int64_t kind = dice_.between(1, 8);
  d.adjoining = kind == 1;
  for (int& floats : d.c.offset.floats) {
    floats = kind <= 5   ? 0
             : kind == 6 ? static_cast<int>(dice_.between(0, 3))
             : kind == 7 ? static_cast<int>(4 * dice_.between(0, 15))
                         : static_cast<int>(dice_.between(0, 63));
  }
  d.refused.reset();
  if (dice_.one_in(32)) d.refused = static_cast<int>(dice_.between(0, 3));
}

}  // namespace assay
