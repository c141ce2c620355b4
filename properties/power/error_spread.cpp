#include "properties/power/error_spread.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "properties/fitting.h"

namespace assay {
namespace {

constexpr std::array<std::uint64_t, 2> seeds_of_each = {0, 1};
constexpr double no_underflow = 0x1p-100;  // of a gauge: far above the smallest numbers

Case case_at(std::int64_t k, Fill fill, std::uint64_t seed) {
  return {.m = 61, .n = 67, .k = k, .alpha = 1.5f, .beta = -0.5f, .fill = fill, .seed = seed};
}

// The errors of one result, in gulps. What cannot be compared is an infinite error.
void add_errors(const std::vector<float>& result, const Reference& reference,
                std::vector<double>& errors) {
  for (std::size_t i = 0; i < result.size(); ++i) {
    const double gauge = reference.gauge[i], wanted = reference.c[i];
    if (!std::isfinite(wanted) || (gauge > 0 && gauge < no_underflow)) continue;
    const double error = std::abs(result[i] - wanted);
    const double gulps = error == 0 ? 0 : error / (unit_roundoff * gauge);
    errors.push_back(std::isnan(gulps) ? std::numeric_limits<double>::infinity() : gulps);
  }
}

ErrorSpread spread_of(std::int64_t k, double allowed, std::vector<double> errors) {
  ErrorSpread spread{
      .k = k, .elements = static_cast<std::int64_t>(errors.size()), .allowed = allowed};
  if (errors.empty()) return spread;
  std::sort(errors.begin(), errors.end());
  const auto quantile = [&](double share) {
    return errors[static_cast<std::size_t>(share * static_cast<double>(errors.size() - 1))];
  };
  spread.median = quantile(0.5), spread.p99 = quantile(0.99), spread.p999 = quantile(0.999);
  spread.worst = errors.back();
  return spread;
}

struct Result {
  std::vector<float> c;
  std::string why_not;  // there is none
};

// The spreads of one source, whose results for a case `result_of` computes.
template <class ResultOf>
SpreadOverK over_k(SpreadOverK source, Arithmetic arithmetic, const Needs& needs,
                   std::uint64_t seed, const ResultOf& result_of,
                   const std::function<void()>& step) {
  for (std::int64_t k : spread_sizes) {
    std::vector<double> errors;
    for (std::uint64_t number : seeds_of_each) {
      const Case c = fitted(case_at(k, source.fill, seed * seeds_of_each.size() + number), needs);
      k = c.k;
      const Operands operands = make_operands(c, Placement::guarded, {4, 4, 4});
      Result result = source.why_not.empty() ? result_of(c, operands) : Result{};
      if (!result.why_not.empty()) source.why_not = std::move(result.why_not);
      if (source.why_not.empty()) add_errors(result.c, make_reference(c, operands), errors);
    }
    if (source.why_not.empty())
      source.spreads.push_back(spread_of(k, allowed_gulps(arithmetic, k), std::move(errors)));
    step();
  }
  return source;
}

Result run(const Entry& entry, const Case& c, const Resources& resources) {
  Result result;
  const Verdict verdict = run_trial(entry, c, {}, resources, &result.c);
  const bool ran = verdict.status == TrialStatus::right || !result.c.empty();
  if (!ran) result.why_not = fmt::format("{}: {}", to_string(verdict.status), verdict.reason);
  return result;
}

}  // namespace

std::vector<SpreadOverK> error_spreads(const SpreadRequest& request,
                                       const std::function<void(double share)>& progress) {
  std::vector<SpreadOverK> all;
  const double steps = static_cast<double>(
      request.fills.size() * (emulations.size() + request.entries.size()) * spread_sizes.size());
  double done = 0;
  const auto step = [&] { progress(++done / steps); };
  for (Fill fill : request.fills) {
    for (Emulation emulation : emulations) {
      SpreadOverK source{
          .fill = fill, .name = std::string(to_string(emulation)), .emulation = emulation};
      all.push_back(over_k(
          std::move(source), Arithmetic::fp32, {}, request.seed,
          [&](const Case& c, const Operands& operands) {
            return Result{emulate(emulation, c, operands), ""};
          },
          step));
    }
    for (const Entry& entry : request.entries) {
      SpreadOverK source{.fill = fill,
                         .name = entry.variant.name,
                         .backend = std::string(to_string(entry.backend))};
      all.push_back(over_k(
          std::move(source), entry.variant.arithmetic, entry.variant.needs, request.seed,
          [&](const Case& c, const Operands&) { return run(entry, c, {}); }, step));
    }
  }
  return all;
}

Separation separation_of(const std::vector<SpreadOverK>& all) {
  Separation separation{.tf32_times = std::numeric_limits<double>::infinity()};
  for (const SpreadOverK& source : all) {
    bool inside = source.why_not.empty();
    for (const ErrorSpread& spread : source.spreads) {
      inside = inside && spread.elements > 0 && spread.is_inside();
      const double share = spread.worst / spread.allowed;
      if (!source.emulation) {
        separation.nearest = std::max(separation.nearest, share);
      } else if (*source.emulation == Emulation::tf32) {
        separation.tf32_times = std::min(separation.tf32_times, share);
      } else if (*source.emulation == Emulation::bf16x3 && !spread.is_inside()) {
        separation.bf16x3_up_to = std::max(separation.bf16x3_up_to, spread.k);
      } else if (*source.emulation == Emulation::bf16x9) {
        separation.bf16x9_is_inside = separation.bf16x9_is_inside && spread.is_inside();
      }
    }
    if (!source.emulation && !inside) separation.outside.push_back(source.name);
  }
  return separation;
}

}  // namespace assay
