#include "regress/decide/statistics.h"

#include <algorithm>
#include <boost/math/distributions/non_central_t.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>

namespace assay {
namespace {

// Without the promotion to long double: fifteen digits of a p are enough, and five times as fast.
namespace policies = boost::math::policies;
using Policy = policies::policy<policies::promote_double<false>>;
using StudentsT = boost::math::students_t_distribution<double, Policy>;
using NoncentralT = boost::math::non_central_t_distribution<double, Policy>;

constexpr double infinity = std::numeric_limits<double>::infinity();

bool is_usable(const Summary& s) {
  return s.count >= 2 && std::isfinite(s.mean) && s.deviation >= 0 && std::isfinite(s.deviation);
}

double error_of_mean(const Summary& s) { return s.deviation / std::sqrt(s.count); }

double quantile(int count, double probability) {
  return boost::math::quantile(StudentsT(count - 1), probability);
}

// A gate asks for the same few quantiles for each of its cells.
double quantile_again(int count, double probability) {
  thread_local std::map<std::tuple<int, double>, double> known;
  const auto [at, fresh] = known.try_emplace({count, probability});
  if (fresh) at->second = quantile(count, probability);
  return at->second;
}

// How many standard errors of the mean (the true ones) the mean must lie beyond the bound.
// Student's statistic of such numbers follows the noncentral t distribution with just this
// parameter, so this is no approximation for normal numbers.
double noncentrality(int count, double p, double power) {
  const double critical = quantile(count, 1 - p);
  const auto excess = [&](double distance) {
    using boost::math::cdf, boost::math::complement;
    return cdf(complement(NoncentralT(count - 1, distance), critical)) - power;
  };
  double high = 1;
  while (excess(high) < 0 && high < 1e6) high *= 2;
  std::uintmax_t steps = 100;
  const auto [from, to] = boost::math::tools::toms748_solve(
      excess, 0.0, high, boost::math::tools::eps_tolerance<double>(20), steps);
  return (from + to) / 2;
}

double noncentrality_again(int count, double p, double power) {
  thread_local std::map<std::tuple<int, double, double>, double> known;
  const auto [at, fresh] = known.try_emplace({count, p, power});
  if (fresh) at->second = noncentrality(count, p, power);
  return at->second;
}

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 != 0) return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

Summary summarize(std::span<const double> values) {
  if (values.empty()) return {};
  const double count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (double v : values) squares += (v - mean) * (v - mean);
  return {static_cast<int>(values.size()), mean,
          values.size() < 2 ? 0 : std::sqrt(squares / (count - 1))};
}

Ratio ratio_of(const std::vector<double>& logs) {
  if (logs.empty()) return {};
  const Summary s = summarize(logs);
  if (s.count == 1) return {std::exp(s.mean), std::exp(s.mean), std::exp(s.mean), 1};
  return {std::exp(s.mean), std::exp(lower_bound(s, 0.975)), std::exp(upper_bound(s, 0.975)),
          s.count};
}

double p_above(const Summary& s, double bound) {
  if (!is_usable(s) || !std::isfinite(bound)) return 1;
  const double distance = s.mean - bound;
  const double statistic = distance / error_of_mean(s);
  if (!std::isfinite(statistic)) return distance > 0 ? 0 : 1;
  return boost::math::cdf(boost::math::complement(StudentsT(s.count - 1), statistic));
}

double p_below(const Summary& s, double bound) {
  return p_above({s.count, -s.mean, s.deviation}, -bound);
}

double upper_bound(const Summary& s, double confidence) {
  return is_usable(s) ? s.mean + quantile_again(s.count, confidence) * error_of_mean(s) : infinity;
}

double lower_bound(const Summary& s, double confidence) {
  return -upper_bound({s.count, -s.mean, s.deviation}, confidence);
}

std::vector<double> holm(const std::vector<double>& p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return p[a] < p[b]; });
  std::vector<double> adjusted(p.size());
  double so_far = 0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const double left = static_cast<double>(order.size() - rank);
    so_far = std::max(so_far, std::min(1.0, left * p[order[rank]]));
    adjusted[order[rank]] = so_far;
  }
  return adjusted;
}

double detectable_mean(int count, double deviation, double bound, double p, double power) {
  if (count < 2 || !(deviation >= 0)) return infinity;
  return bound + noncentrality_again(count, p, power) * deviation / std::sqrt(count);
}

int count_needed(double deviation, double gap, double p, double power) {
  constexpr int most = 1'000'000;
  if (!(gap > 0)) return most;
  // The two quantiles, of missing the bound by chance and of the chance that the mean lies low, add
  // up: the usual plan of a sample size, a little too small only for handfuls.
  const auto enough = [&](int count) {
    const double distance = quantile(count, 1 - p) + quantile(count, power);
    return distance * deviation / std::sqrt(count) <= gap;
  };
  // With the quantiles of infinitely many it is too few, but not by much.
  const boost::math::normal normal;
  const double distance =
      boost::math::quantile(normal, 1 - p) + boost::math::quantile(normal, power);
  const double fewest = std::pow(distance * deviation / gap, 2);
  if (!(fewest < most)) return most;
  int count = std::max(2, static_cast<int>(fewest));
  while (count < most && !enough(count)) ++count;
  return count;
}

}  // namespace assay
