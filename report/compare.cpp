#include "report/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/words.h"

namespace assay::report {
namespace {

constexpr double least_change = 0.01;  // of a time over the anchor's: less is the noise of runs
// Of the bound that an error takes. Below, it changes with the cases that are drawn.
constexpr double close_share = 0.5, least_share = 0.1;

class Comparer {
 public:
  Comparison found;

  void compare(const Report& before, const Report& after) {
    for (const VariantReport& then : before.variants) {
      const auto now = std::ranges::find(after.variants, then.about.name,
                                         [](const VariantReport& one) { return one.about.name; });
      if (now == after.variants.end()) {
        add(Change::lost, "{} is in the first result alone", then.about.name);
      } else {
        compare(then, *now);
      }
    }
    std::ranges::stable_sort(found.differences, {}, &Difference::change);
  }

 private:
  template <class... Arguments>
  void add(Change change, fmt::format_string<Arguments...> form, Arguments&&... arguments) {
    found.differences.push_back({change, fmt::format(form, std::forward<Arguments>(arguments)...)});
  }

  // Calls `about` with what both have.
  template <class T, class Same, class About>
  void pairs(const std::vector<T>& then, const std::vector<T>& now, const Same& same,
             const About& about) {
    for (const T& a : then) {
      const auto b = std::ranges::find_if(now, [&](const T& one) { return same(a, one); });
      if (b == now.end()) continue;
      ++found.in_common;
      about(a, *b);
    }
  }

  void compare(const VariantReport& then, const VariantReport& now) {
    const std::string& name = then.about.name;
    pairs(
        then.claims, now.claims,
        [](auto& a, auto& b) { return a.backend == b.backend && a.claim == b.claim; },
        [&](auto& a, auto& b) { compare_claims(a, b); });
    const auto same_cell = [](auto& a, auto& b) {
      return a.card == b.card && a.problem == b.problem;
    };
    pairs(then.cells, now.cells, same_cell, [&](auto& a, auto& b) { compare_cells(a, b); });
    pairs(then.timings, now.timings, same_cell, [&](auto& a, auto& b) { compare_timings(a, b); });
    pairs(
        then.traffic, now.traffic, [](auto& a, auto& b) { return a.problem == b.problem; },
        [&](auto& a, auto& b) { compare_traffic(a, b); });
    if (then.paths && now.paths) compare_paths(name, *then.paths, *now.paths);
  }

  void compare_claims(const MergedClaim& a, const MergedClaim& b) {
    const std::string which = fmt::format("{} on {}, {}", a.variant, a.backend, a.claim);
    const bool held = a.status == "holds", holds = b.status == "holds";
    if (a.status != "fails" && b.status == "fails") {
      add(Change::worse, "{} turned wrong: {}", which, b.failure ? b.failure->headline : b.reason);
    } else if (a.status == "fails" && holds) {
      add(Change::better, "{} turned right", which);
    } else if (held && !holds) {
      add(Change::lost, "{} is no longer judged: {}", which, b.reason);
    } else if (held && holds) {
      const double was = a.worst_gulps / a.allowed_gulps, is = b.worst_gulps / b.allowed_gulps;
      if (is >= close_share && is >= was + least_share)
        add(Change::worse, "{} came closer to the bound: {} of {} gulps, before {} of {}", which,
            digits(b.worst_gulps), digits(b.allowed_gulps), digits(a.worst_gulps),
            digits(a.allowed_gulps));
    }
  }

  void compare_cells(const MergedCell& a, const MergedCell& b) {
    const std::string which = fmt::format("{} {}", a.variant, a.problem);
    const auto is_bad = [](const Cell& cell) {
      return cell.status == "slower" || cell.status == "wrong";
    };
    const auto is_good = [](const Cell& cell) {
      return cell.status == "same" || cell.status == "faster";
    };
    const double change = b.anchor_ratio / a.anchor_ratio;
    const bool timed = a.anchor_ratio > 0 && b.anchor_ratio > 0 && std::isfinite(change);
    if (timed && std::abs(change - 1) >= least_change) {
      add(change > 1 ? Change::worse : Change::better, "{}: {} of its time over the anchor's",
          which, change_of(change));
    } else if (is_bad(b) && !is_bad(a)) {
      add(Change::worse, "{} turned {}: {}", which, b.status, b.reason);
    } else if (is_bad(a) && is_good(b)) {
      add(Change::better, "{} is no longer {}", which, a.status);
    } else if (is_good(a) && !is_good(b) && !is_bad(b)) {
      add(Change::lost, "{} is {}: {}", which, b.status, b.reason);
    }
  }

  // Intervals that do not meet.
  void compare_timings(const Timing& a, const Timing& b) {
    const Interval &was = a.percent_of_cublas, &is = b.percent_of_cublas;
    const std::string which = fmt::format("{} {}", a.variant, a.problem);
    if (b.status == "wrong" && a.status != "wrong") add(Change::worse, "{} turned wrong", which);
    if (!(was.value > 0) || !(is.value > 0)) return;
    if (is.high < was.low || is.low > was.high)
      add(is.high < was.low ? Change::worse : Change::better,
          "{}: {:.1f} % of cuBLAS's speed, before {:.1f} %", which, is.value, was.value);
  }

  // Counts are exact.
  void compare_traffic(const Traffic& a, const Traffic& b) {
    const auto compare_count = [&](const char* what, std::int64_t was, std::int64_t is) {
      if (was != is)
        add(is > was ? Change::worse : Change::better, "{} {}: {} {}, before {}", a.variant,
            a.problem, grouped(is), what, grouped(was));
    };
    if (a.status != "counted" || b.status != "counted") return;
    compare_count("load requests", a.load_requests, b.load_requests);
    compare_count("load sectors", a.load_sectors, b.load_sectors);
    compare_count("bytes moved", a.bytes_moved, b.bytes_moved);
    compare_count("shared wavefronts", a.wavefronts, b.wavefronts);
    compare_count("barriers", a.barriers, b.barriers);
  }

  // Lines move; what stands in them tells a comparison.
  void compare_paths(const std::string& name, const Paths& a, const Paths& b) {
    if (!a.unknown.empty()) return;
    ++found.in_common;
    if (!b.unknown.empty())
      return add(Change::lost, "{}: paths are not known: {}", name, b.unknown);
    for (const OneWay& way : b.one_way) {
      const auto known = std::ranges::find(a.one_way, way.source, &OneWay::source);
      if (known == a.one_way.end())
        add(Change::lost, "{}: {}:{} no longer goes both ways, or is new: {}", name, way.place.file,
            way.place.line, way.source);
    }
  }
};

}  // namespace

const char* to_string(Change change) {
  switch (change) {
    case Change::worse: return "worse";
    case Change::lost: return "lost";
    case Change::better: return "better";
  }
  return "";
}

Comparison compared(const Report& before, const Report& after) {
  Comparer comparer;
  comparer.compare(before, after);
  return std::move(comparer.found);
}

}  // namespace assay::report
