#include "report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/errors.h"
#include "base/result_files.h"
#include "base/text.h"

namespace assay::report {
namespace {

// The worst comes first: it counts where results differ.
constexpr std::array claim_order = {"fails", "error",      "interrupted",
                                    "holds", "not_judged", "exempt"};
constexpr std::array cell_order = {"wrong",       "slower", "invalid", "undecided",
                                   "no baseline", "faster", "same"};

template <std::size_t count>
auto rank(const std::array<const char*, count>& order, const std::string& status) {
  return std::find(order.begin(), order.end(), status) - order.begin();
}

bool contradicts(const Claim& a, const Claim& b) {
  return (a.status == "fails" && b.status == "holds") ||
         (a.status == "holds" && b.status == "fails");
}

bool is_bad(const Cell& cell) { return cell.status == "wrong" || cell.status == "slower"; }
bool is_good(const Cell& cell) { return cell.status == "same" || cell.status == "faster"; }
bool contradicts(const Cell& a, const Cell& b) {
  return (is_bad(a) && is_good(b)) || (is_good(a) && is_bad(b));
}

class Merger {
 public:
  explicit Merger(Report& report) : report_(report) {}

  void add(const Result& result) {
    report_.sources.push_back(result.source);
    for (const About& about : result.about) variant(about.name).about = about;
    for (const ClaimName& name : result.claim_names) add_name(name);
    for (const Claim& claim : result.claims) add_claim(claim);
    for (const Cell& cell : result.cells) add_cell(cell);
    for (const Timing& timing : result.timings) add_timing(timing);
    for (const Traffic& traffic : result.traffic) add_traffic(traffic);
    for (const Spread& spread : result.spreads) add_spread(spread);
    for (const Paths& paths : result.paths) add_paths(paths);
    for (const Kernel& kernel : result.kernels) {
      put(report_.kernels, kernel, [&](const Kernel& old) {
        return old.name == kernel.name && old.architecture == kernel.architecture;
      });
    }
    for (const Defect& defect : result.defects) {
      put(report_.defects, defect, [&](const Defect& old) {
        return old.name == defect.name && old.backend == defect.backend;
      });
    }
    for (const std::string& what : result.not_tested)
      report_.not_tested[what].push_back(result.source.file);
  }

 private:
  std::size_t here() const { return report_.sources.size() - 1; }

  VariantReport& variant(const std::string& name) {
    for (VariantReport& one : report_.variants)
      if (one.about.name == name) return one;
    report_.variants.push_back({.about = {.name = name}});
    return report_.variants.back();
  }

  // Older results do not tell what a claim says.
  void add_name(const ClaimName& name) {
    for (ClaimName& one : report_.claims) {
      if (one.name != name.name) continue;
      if (one.sentence.empty()) one = name;
      return;
    }
    report_.claims.push_back(name);
  }

  // "fails in a.json (commit 1234567890ab), holds in b.json (commit ...)"
  std::string told_apart(const std::string& status, const std::vector<std::size_t>& sources,
                         const std::string& other) const {
    const auto place = [&](std::size_t i) {
      const Source& source = report_.sources[i];
      return fmt::format("{} ({})", source.file, source.code());
    };
    return fmt::format("{} in {}, {} in {}", status, place(sources.back()), other, place(here()));
  }

  void add_claim(const Claim& claim) {
    add_name({claim.claim, claim.claim, ""});
    auto& claims = variant(claim.variant).claims;
    const auto same = std::find_if(claims.begin(), claims.end(), [&](const MergedClaim& one) {
      return one.backend == claim.backend && one.claim == claim.claim;
    });
    if (same == claims.end()) {
      claims.push_back({{claim}, {here()}, ""});
      return;
    }
    MergedClaim& one = *same;
    if (contradicts(one, claim))
      one.contradiction = told_apart(one.status, one.sources, claim.status);
    const bool again = std::any_of(one.sources.begin(), one.sources.end(), [&](std::size_t i) {
      return report_.sources[i].cases == report_.sources[here()].cases;
    });
    Claim sum = rank(claim_order, claim.status) < rank(claim_order, one.status) ? claim : one;
    // The same cases judged again are no more cases.
    sum.cases = again ? std::max(one.cases, claim.cases) : one.cases + claim.cases;
    sum.elements = again ? std::max(one.elements, claim.elements) : one.elements + claim.elements;
    const Claim& nearer =
        claim.worst_gulps * one.allowed_gulps > one.worst_gulps * claim.allowed_gulps ? claim : one;
    std::tie(sum.worst_gulps, sum.allowed_gulps) =
        std::pair(nearer.worst_gulps, nearer.allowed_gulps);
    static_cast<Claim&>(one) = sum;
    one.sources.push_back(here());
  }

  // Cells of two cards are two cells.
  void add_cell(const Cell& cell) {
    if (!report_.sources.back().unfit.empty() && cell.status != "wrong") return;
    auto& cells = variant(cell.variant).cells;
    const auto same = std::find_if(cells.begin(), cells.end(), [&](const MergedCell& one) {
      return one.card == cell.card && one.problem == cell.problem;
    });
    if (same == cells.end()) {
      cells.push_back({{cell}, {here()}, ""});
      return;
    }
    if (contradicts(*same, cell))
      same->contradiction = told_apart(same->status, same->sources, cell.status);
    const auto then = rank(cell_order, same->status), now = rank(cell_order, cell.status);
    const bool tells_more = now == then && same->processes < cell.processes;
    if (now < then || tells_more) static_cast<Cell&>(*same) = cell;
    same->sources.push_back(here());
  }

  // Of two measurements of the same the one that is given later counts.
  template <class T, class Same>
  static void put(std::vector<T>& all, const T& one, const Same& is_same) {
    const auto old = std::find_if(all.begin(), all.end(), is_same);
    if (old == all.end()) {
      all.push_back(one);
    } else {
      *old = one;
    }
  }

  void add_timing(const Timing& timing) {
    if (!report_.sources.back().unfit.empty() && timing.status != "wrong") return;
    put(variant(timing.variant).timings, timing, [&](const Timing& old) {
      return old.problem == timing.problem && old.card == timing.card;
    });
  }

  void add_traffic(const Traffic& traffic) {
    put(variant(traffic.variant).traffic, traffic,
        [&](const Traffic& old) { return old.problem == traffic.problem; });
  }

  // What no backend ran is an arithmetic that the host emulates.
  void add_spread(const Spread& spread) {
    auto& all = spread.backend.empty() ? report_.arithmetics : variant(spread.source).spreads;
    put(all, spread, [&](const Spread& old) {
      return old.source == spread.source && old.backend == spread.backend &&
             old.fill == spread.fill;
    });
  }

  // The result that saw more comparisons go both ways tells more.
  void add_paths(const Paths& paths) {
    auto& known = variant(paths.variant).paths;
    if (!known || (known->unknown.empty() ? known->went_both_ways : -1) < paths.went_both_ways)
      known = paths;
  }

  Report& report_;
};

}  // namespace

std::vector<std::string> VariantReport::backends() const {
  std::vector<std::string> names;
  for (const MergedClaim& claim : claims) add_once(names, claim.backend);
  return names;
}

const MergedClaim* VariantReport::claim(const std::string& backend, const std::string& name) const {
  for (const MergedClaim& one : claims)
    if (one.backend == backend && one.claim == name) return &one;
  return nullptr;
}

const MergedClaim* VariantReport::lead(const std::string& backend) const {
  const MergedClaim* first = nullptr;
  for (const MergedClaim& one : claims) {
    if (one.backend != backend || one.status != "fails") continue;
    if (one.failure && one.failure->leads) return &one;
    if (first == nullptr || (one.failure && !first->failure)) first = &one;
  }
  return first;
}

std::string VariantReport::name_in_its_class() const {
  std::string arithmetic = about.arithmetic;
  for (const Timing& one : timings)
    if (arithmetic.empty()) arithmetic = one.arithmetic;
  return arithmetic.empty() || arithmetic == "fp32" ? about.name
                                                    : about.name + " (" + arithmetic + ")";
}

bool VariantReport::is_wrong() const {
  const auto is_wrong_cell = [](const MergedCell& cell) { return cell.status == "wrong"; };
  const auto fails = [](const MergedClaim& claim) { return claim.status == "fails"; };
  return std::any_of(claims.begin(), claims.end(), fails) ||
         std::any_of(cells.begin(), cells.end(), is_wrong_cell);
}

bool VariantReport::is_right() const {
  const auto has = [&](const char* status) {
    return std::any_of(claims.begin(), claims.end(),
                       [&](const MergedClaim& claim) { return claim.status == status; });
  };
  return has("holds") && !is_wrong() && !has("error") && !has("interrupted");
}

Report merged(const std::vector<Result>& results) {
  Report report;
  Merger merger(report);
  for (const Result& result : results) merger.add(result);
  for (VariantReport& variant : report.variants) {
    const auto backends = variant.backends();
    std::ranges::stable_sort(variant.claims, {}, [&](const MergedClaim& claim) {
      return std::find(backends.begin(), backends.end(), claim.backend);
    });
  }
  return report;
}

Report read_report(const std::vector<std::string>& files_and_folders) {
  std::vector<Result> results;
  for (const std::string& file : result_files(files_and_folders))
    results.push_back(read_result(file));
  return merged(results);
}

}  // namespace assay::report
