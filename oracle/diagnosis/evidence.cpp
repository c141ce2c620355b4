#include "oracle/diagnosis/evidence.h"

#include <algorithm>
#include <cmath>

namespace assay {
namespace {

std::vector<Place> sample_wrong(const WrongResult& f, std::size_t most) {
  std::vector<Place> places;
  // An odd step: an even one would see only some columns of most matrices.
  const std::int64_t step = (f.judgement.wrong / static_cast<std::int64_t>(most)) | 1;
  std::int64_t seen = 0;
  for (std::int64_t i = 0; i < f.c.m; ++i) {
    for (std::int64_t j = 0; j < f.c.n; ++j) {
      if (f.judgement.wrong_mask[static_cast<std::size_t>(i * f.c.n + j)] && seen++ % step == 0)
        places.push_back({i, j});
    }
  }
  return places;
}

bool holds_integers(const Case& c) {
  const bool whole_scalars = c.alpha == std::floor(c.alpha) && c.beta == std::floor(c.beta);
  return whole_scalars && (c.fill == Fill::small_ints || c.fill == Fill::exact);
}

}  // namespace

Evidence::Evidence(const WrongResult& f) : f_(f), places_(sample_wrong(f, 32)) {}

double Evidence::product(Place p) const {
  const auto [known, is_new] = products_.try_emplace(index(p), 0.0);
  for (std::int64_t i = 0; is_new && i < depth(); ++i) known->second += a(p, i) * b(p, i);
  return known->second;
}

double Evidence::at(Operand o, std::int64_t distance) const {
  const Image& image = f_.before[o];
  const std::int64_t index = image.first + distance;
  return index >= 0 && index < static_cast<std::int64_t>(image.floats.size())
             ? double{image.floats[static_cast<std::size_t>(index)]}
             : std::nan("");
}

double Evidence::slack_at(Place p) const {
  const double of_inputs = std::isfinite(gauge(p)) ? gauge(p) : 0;
  return 32 * unit_roundoff * (of_inputs + std::abs(got(p)));
}

bool Evidence::explains(const Mistaken& mistaken, Nan nan) const {
  bool differs = false;
  for (Place p : places_) {
    const double value = mistaken(p), is = got(p), should_be = wanted(p);
    if (std::isnan(value) && std::isnan(is)) {
      differs |= nan == Nan::counts && std::isfinite(should_be);
      continue;
    }
    if (std::isinf(is)) {
      if (static_cast<double>(static_cast<float>(value)) != is) return false;
      continue;
    }
    if (!(std::abs(value - is) <= slack_at(p))) return false;
    differs |= !std::isfinite(should_be) || std::abs(value - should_be) > 2 * slack_at(p);
  }
  return differs;
}

bool Evidence::gives_what_is_right(const Mistaken& mistaken) const {
  constexpr int most = 64;
  int looked_at = 0;
  for (std::int64_t i = 0; i < f_.c.m; ++i) {
    for (std::int64_t j = 0; j < f_.c.n && looked_at < most; ++j) {
      const Place p{i, j};
      if (f_.judgement.wrong_mask[index(p)]) continue;
      ++looked_at;
      const double value = mistaken(p);
      const bool both_nan = std::isnan(value) && std::isnan(got(p));
      if (!both_nan && value != got(p) && !(std::abs(value - got(p)) <= slack_at(p))) return false;
    }
  }
  return true;
}

double Evidence::chance_of_coincidence(double guesses) const {
  double chance = 2 * guesses;
  for (Place p : places_) {
    const double off = std::abs(got(p) - wanted(p));
    const double one_value = std::max(2 * slack_at(p), holds_integers(f_.c) ? 0.5 : 0.0);
    if (std::isfinite(off)) chance *= std::min(1.0, one_value / off);
  }
  return chance;
}

bool Evidence::is_within_bound(Place p) const {
  if (!std::isfinite(wanted(p))) return false;
  const double allowed = allowed_gulps(f_.variant.arithmetic, f_.c);
  return std::abs(got(p) - wanted(p)) <= allowed * unit_roundoff * gauge(p);
}

}  // namespace assay
