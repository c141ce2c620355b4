// Mistakes within the sum over k: rounded inputs, and ranges of k that are missing or counted
// twice.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "oracle/diagnosis/evidence.h"

namespace assay {
namespace {

using Rounding = double (*)(double);

double without_denormals(double value) { return std::abs(value) < 0x1p-126 ? 0 : value; }

struct Range {
  std::int64_t from, to, step = 1;
};
std::string text_of(const Range& range, std::int64_t k) {
  if (range.step > 1) return fmt::format("k = {} of every {}", range.from, range.step);
  if (range.to - range.from == 1) return fmt::format("k = {}", range.from);
  return fmt::format("k = {} to {}{}", range.from, range.to - 1, range.to == k ? ", the last" : "");
}

// What loops leave out: a slice of a tile, a single k, the last few, every second to 32nd.
std::vector<Range> usual_ranges(std::int64_t k, std::int64_t tile) {
  constexpr std::int64_t most = 4096;
  std::vector<Range> ranges;
  if (k % tile != 0) ranges.push_back({k - k % tile, k});
  for (std::int64_t p = 0; tile > 1 && p < k; p += tile)
    ranges.push_back({p, std::min(p + tile, k)});
  for (std::int64_t p = k - 1; p >= std::max<std::int64_t>(0, k - most); --p)
    ranges.push_back({p, p + 1});
  for (std::int64_t p = k - 2; p > std::max<std::int64_t>(0, k - most); --p)
    ranges.push_back({p, k});
  for (std::int64_t step : {std::int64_t{2}, std::int64_t{4}, std::int64_t{8}, tile}) {
    for (std::int64_t first = 0; first < step && 2 * step <= k && step <= 32; ++first)
      ranges.push_back({first, k, step});
  }
  return ranges;
}

double sum_over(const Evidence& e, Place p, const Range& range) {
  double sum = 0;
  for (std::int64_t i = range.from; i < range.to; i += range.step) sum += e.a(p, i) * e.b(p, i);
  return sum;
}

// Any stretch of k whose sum is just what the first wrong element lacks.
std::vector<Range> stretches_that_sum_to(const Evidence& e, double lack) {
  const Place p = e.places().front();
  const std::int64_t k = std::min<std::int64_t>(e.depth(), 4096);
  const double slack = e.slack_at(p) / std::abs(e.c().alpha);
  std::vector<std::pair<double, std::int64_t>> sums = {{0.0, 0}};
  for (std::int64_t i = 0; i < k; ++i)
    sums.push_back({sums.back().first + e.a(p, i) * e.b(p, i), i + 1});
  const std::vector<std::pair<double, std::int64_t>> in_order = sums;
  std::sort(sums.begin(), sums.end());
  std::vector<Range> found;
  for (const auto& [before, from] : in_order) {
    const std::pair least{before + lack - slack, std::int64_t{0}};
    for (auto at = std::lower_bound(sums.begin(), sums.end(), least);
         at != sums.end() && at->first <= before + lack + slack; ++at) {
      if (at->second > from && found.size() < 1000) found.push_back({from, at->second});
    }
  }
  return found;
}

Diagnosis of_range(const Evidence& e, const Range& range) {
  const auto with = [&](double times) {
    return [&e, &range, times](Place p) {
      return e.with_product(p, e.product(p) + times * sum_over(e, p, range));
    };
  };
  const std::string where = text_of(range, e.depth());
  if (e.explains(with(-1)))
    return {{Fault::k_missing}, fmt::format("the contribution of {} is missing", where)};
  if (e.explains(with(+1)))
    return {{Fault::k_twice}, fmt::format("the contribution of {} was added twice", where)};
  return {};
}

Diagnosis runs_past_k(const Evidence& e) {
  const std::int64_t k = e.depth(), most = std::max(e.tile().k, 8);
  if (k == 0 || !e.is_no_coincidence(static_cast<double>(most))) return {};
  for (std::int64_t more = 1; more <= most; ++more) {
    const auto mistaken = [&](Place p) {
      double sum = e.product(p);
      for (std::int64_t i = k; i < k + more; ++i) {
        sum += e.at(Operand::a, p.row * e.stride(Operand::a) + i) *
               e.at(Operand::b, i * e.stride(Operand::b) + p.column);
      }
      return e.with_product(p, sum);
    };
    if (e.explains(mistaken)) {
      return {{Fault::k_past_end},
              fmt::format("the sum goes past the last k, to k = {}", k + more - 1)};
    }
  }
  return {};
}

}  // namespace

Diagnosis mistaken_rounding(const Evidence& e) {
  struct Format {
    const char* name;
    int bits;
  };
  struct Who {
    const char* are;
    bool a, b;
  };
  for (const Who& who : {Who{"the inputs were", true, true},
                         {"A alone was", true, false},
                         {"B alone was", false, true}}) {
    const auto with = [&](const auto& of_input) {
      return [&](Place p) {
        double sum = 0;
        for (std::int64_t i = 0; i < e.depth(); ++i)
          sum +=
              (who.a ? of_input(e.a(p, i)) : e.a(p, i)) * (who.b ? of_input(e.b(p, i)) : e.b(p, i));
        return e.with_product(p, sum);
      };
    };
    for (const auto& [name, bits] : {Format{"TF32 (or FP16)", 10}, {"BF16", 7}}) {
      for (auto round : {Rounding(std::nearbyint), Rounding(std::trunc)}) {
        const auto of_input = [&, bits = bits](double v) { return rounded(v, bits, round); };
        if (e.explains(with(of_input)))
          return {{Fault::rounded_inputs}, fmt::format("{} rounded to {}", who.are, name)};
      }
    }
    if (e.explains(with(without_denormals)))
      return {{Fault::flushed}, fmt::format("{} taken for 0 where denormal", who.are)};
  }
  return {};
}

Diagnosis mistaken_sum(const Evidence& e) {
  const std::int64_t k = e.depth();
  const auto usual = usual_ranges(k, e.tile().k);
  if (e.is_no_coincidence(static_cast<double>(usual.size()))) {
    for (const Range& range : usual) {
      if (Diagnosis mistake = of_range(e, range); !mistake.words.empty()) return mistake;
    }
  }
  const Place first = e.places().front();
  const double lack = (e.wanted(first) - e.got(first)) / e.c().alpha;
  if (k > 1 && std::isfinite(lack) && e.is_no_coincidence(0.5 * static_cast<double>(k * k))) {
    for (double missing : {lack, -lack}) {
      for (const Range& range : stretches_that_sum_to(e, missing)) {
        if (Diagnosis mistake = of_range(e, range); !mistake.words.empty()) return mistake;
      }
    }
  }
  return runs_past_k(e);
}

// Errors far smaller than one product are no product too many or too few.
Diagnosis mistaken_precision(const Evidence& e) {
  const Fill fill = e.c().fill;
  if (fill != Fill::uniform && !(fill > Fill::special)) return {};
  const double of_a_product = 1.0 / static_cast<double>(std::max<std::int64_t>(1, e.depth()));
  double largest = 0;
  const bool all_small = e.all_sampled([&](Place p) {
    const double error = std::abs(e.got(p) - e.wanted(p)) / e.gauge(p);
    largest = std::max(largest, error);
    return error < 0x1p-8 * of_a_product;
  });
  if (!all_small || !(largest > 0)) return {};
  return {{Fault::rounded_inputs},
          fmt::format("something is rounded: they are right to about {} bits of 24",
                      static_cast<int>(-std::log2(largest)))};
}

}  // namespace assay
