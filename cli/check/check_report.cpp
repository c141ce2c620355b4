#include "cli/check/check_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/text.h"
#include "cli/check/paths.h"
#include "cli/out/table.h"

namespace assay {
namespace {

template <class Test>
std::vector<Remark> remarks_where(const CheckReport& report, const Test& test) {
  std::vector<Remark> by_claim;
  for (const Claim* claim : report.selection.claims) {
    const std::size_t first = by_claim.size();
    for (const ClaimResult& result : report.results) {
      if (result.claim != claim || !test(result)) continue;
      const std::string reason = result.reason();
      const auto remark =
          std::find_if(by_claim.begin() + static_cast<std::ptrdiff_t>(first), by_claim.end(),
                       [&](const Remark& r) { return r.reason == reason; });
      if (remark != by_claim.end()) {
        remark->entries.push_back(result.entry);
      } else {
        by_claim.push_back({{claim}, {result.entry}, reason});
      }
    }
  }
  std::vector<Remark> merged;
  for (Remark& remark : by_claim) {
    const auto same = std::find_if(merged.begin(), merged.end(), [&](const Remark& r) {
      return r.reason == remark.reason &&
             std::equal(r.entries.begin(), r.entries.end(), remark.entries.begin(),
                        remark.entries.end(), same_entry);
    });
    if (same != merged.end()) {
      same->claims.push_back(remark.claims.front());
    } else {
      merged.push_back(std::move(remark));
    }
  }
  return merged;
}

struct Tally {
  int variants = 0, judged_variants = 0, wrong_variants = 0;
  int held = 0, broken = 0, too_few = 0, exempt = 0, left_out = 0, harness_errors = 0;
  std::int64_t cases = 0, elements = 0;
  std::vector<std::string> wrong_names, short_claims;
};

void add_once(std::vector<std::string>& all, const std::string& one) {
  if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(one);
}

// Variants are counted by name: a variant is one, however many backends it runs on.
Tally tally(const CheckReport& report) {
  Tally t;
  std::vector<std::string> names, judged, wrong;
  for (const ClaimResult& result : report.results) {
    const ClaimStatus status = result.status();
    const std::string variant = result.entry.variant.name;
    const std::string name = name_of(result.entry, report.selection.entries);
    add_once(names, variant);
    if (result.cases > 0) add_once(judged, variant);
    t.cases += result.cases;
    t.elements += result.elements;
    t.held += status == ClaimStatus::holds;
    t.broken += status == ClaimStatus::fails;
    t.exempt += status == ClaimStatus::exempt;
    t.left_out += status == ClaimStatus::not_judged && result.skipped->by == Skip::By::claim;
    t.too_few += status == ClaimStatus::too_few;
    t.harness_errors += status == ClaimStatus::harness_error;
    if (status == ClaimStatus::fails) {
      add_once(wrong, variant);
      add_once(t.wrong_names, name);
    }
    if (status == ClaimStatus::too_few)
      t.short_claims.push_back(
          fmt::format("{} ({}): {}", name, result.claim->name, result.reason()));
  }
  t.variants = static_cast<int>(names.size());
  t.judged_variants = static_cast<int>(judged.size());
  t.wrong_variants = static_cast<int>(wrong.size());
  return t;
}

std::string amount(const Tally& t, double seconds) {
  return fmt::format("{}, {} elements judged in {}", plural(t.cases, "case"),
                     count_text(t.elements), duration_text(seconds));
}

std::string share(int some, int of) {
  return some == of ? plural(of, "variant") : fmt::format("{} of {}", some, plural(of, "variant"));
}

Conclusion pass(const CheckReport& report, const Tally& t) {
  std::vector<std::string> besides;
  if (t.exempt > 0)
    besides.push_back(fmt::format("{} {} not apply", t.exempt, t.exempt == 1 ? "does" : "do"));
  if (t.left_out > 0)
    besides.push_back(
        fmt::format("{} {} nothing about this case", t.left_out, t.left_out == 1 ? "says" : "say"));
  return {ExitCode::passed, "PASS",
          fmt::format("{} {} {}{}: {}", share(t.judged_variants, t.variants),
                      t.judged_variants == 1 ? "holds" : "hold", plural(t.held, "claim"),
                      besides.empty() ? "" : fmt::format(" ({})", joined(besides)),
                      amount(t, report.seconds)),
          ""};
}

Conclusion fail(const CheckReport& report, const Tally& t) {
  const auto first =
      std::find_if(report.results.begin(), report.results.end(),
                   [](const ClaimResult& r) { return r.status() == ClaimStatus::fails; });
  const auto end = std::find_if(first, report.results.end(), [&](const ClaimResult& r) {
    return !same_entry(r.entry, first->entry);
  });
  const ClaimResult& lead = *lead_of({first, end});
  std::string sentence = fmt::format(
      "{} of {} {} {}: {}", t.wrong_variants, plural(t.variants, "variant"),
      t.wrong_variants == 1 ? "breaks" : "break", plural(t.broken, "claim"), joined(t.wrong_names));
  if (t.too_few > 0) sentence += "; and the harness judged too little";
  if (t.harness_errors > 0)
    sentence += fmt::format("; and {} could not be judged", plural(t.harness_errors, "claim"));
  return {ExitCode::wrong, "FAIL", std::move(sentence),
          replay_line(lead, lead.failure->sequence())};
}

Conclusion too_few(const Tally& t) {
  return {ExitCode::wrong, "FAIL",
          fmt::format("the harness judged too little of {}: {}", plural(t.too_few, "claim"),
                      joined(t.short_claims, "; ")),
          ""};
}

std::string names_of(const std::vector<const Claim*>& claims) {
  std::vector<std::string> names;
  for (const Claim* claim : claims) names.emplace_back(claim->name);
  return joined(names);
}

// A refusal is the reason, whatever some claims say about the case; what claims exclude is a reason
// only where there is no other.
std::vector<std::string> reasons_for_nothing(const CheckReport& report) {
  std::vector<std::string> reasons = report.selection.left_out;
  for (const Remark& remark : remarks(report, Skip::By::variant)) {
    reasons.push_back(fmt::format(
        "{} refused: {}", names_of(remark.entries, report.selection.entries), remark.reason));
  }
  if (!remarks(report, Skip::By::empty_c).empty()) reasons.push_back("C is empty");
  if (!reasons.empty()) return reasons;
  for (const auto& some : {remarks(report, ClaimStatus::too_few), remarks(report, Skip::By::claim),
                           remarks(report, ClaimStatus::exempt)}) {
    for (const Remark& remark : some)
      reasons.push_back(fmt::format("{}: {}", names_of(remark.claims), remark.reason));
  }
  return reasons;
}

std::string the_first_of(std::vector<std::string> reasons) {
  constexpr std::size_t told_in_full = 4;
  if (reasons.size() > told_in_full) {
    const auto more = static_cast<std::int64_t>(reasons.size() - told_in_full);
    reasons.resize(told_in_full);
    reasons.push_back(fmt::format("and {}", plural(more, "more reason")));
  }
  return joined(reasons, "; ");
}

Conclusion nothing_judged(const CheckReport& report) {
  auto reasons = reasons_for_nothing(report);
  if (reasons.empty()) reasons.push_back(no_kernels);
  return {ExitCode::nothing_judged, "NOTHING JUDGED", the_first_of(std::move(reasons)), ""};
}

Conclusion harness_failed(const CheckReport& report, const Tally& t) {
  std::vector<std::string> reasons;
  for (const Remark& remark : remarks(report, ClaimStatus::harness_error)) {
    reasons.push_back(fmt::format("{} ({}): {}", names_of(remark.claims),
                                  names_of(remark.entries, report.selection.entries),
                                  remark.reason));
  }
  return {ExitCode::unfit_environment, "UNFIT",
          fmt::format("{} could not be judged, which is no verdict on a variant: {}",
                      plural(t.harness_errors, "claim"), the_first_of(std::move(reasons))),
          ""};
}

}  // namespace

Conclusion conclude(const CheckReport& report) {
  const Tally t = tally(report);
  if (t.broken > 0) return fail(report, t);
  if (t.harness_errors > 0) return harness_failed(report, t);
  if (t.judged_variants == 0) return nothing_judged(report);
  if (t.too_few > 0) return too_few(t);
  if (auto unmet = unmet_paths(report)) return *unmet;
  return pass(report, t);
}

bool same_entry(const Entry& a, const Entry& b) {
  return a.backend == b.backend && std::string_view(a.variant.name) == b.variant.name;
}

std::string name_of(const Entry& entry, const std::vector<Entry>& all) {
  const bool elsewhere_too = std::any_of(all.begin(), all.end(), [&](const Entry& other) {
    return std::string_view(other.variant.name) == entry.variant.name && !same_entry(other, entry);
  });
  return elsewhere_too ? fmt::format("{} on {}", entry.variant.name, to_string(entry.backend))
                       : entry.variant.name;
}

std::vector<Remark> remarks(const CheckReport& report, ClaimStatus status) {
  return remarks_where(report, [&](const ClaimResult& r) { return r.status() == status; });
}
std::vector<Remark> remarks(const CheckReport& report, Skip::By by) {
  return remarks_where(report, [&](const ClaimResult& r) {
    return r.status() == ClaimStatus::not_judged && r.skipped->by == by;
  });
}

std::string names_of(const std::vector<Entry>& some, const std::vector<Entry>& all) {
  constexpr std::size_t few = 3;
  const auto count = [](const std::vector<Entry>& entries, Backend backend) {
    return std::count_if(entries.begin(), entries.end(),
                         [&](const Entry& entry) { return entry.backend == backend; });
  };
  bool whole_backends = true;
  std::vector<std::string> names, backends;
  for (const Entry& entry : some) {
    names.push_back(name_of(entry, all));
    if (count(some, entry.backend) == count(all, entry.backend)) {
      add_once(backends, std::string(to_string(entry.backend)));
    } else {
      whole_backends = false;
    }
  }
  if (some.size() <= few || !whole_backends) return joined(names);
  return some.size() == all.size() ? "all variants"
                                   : fmt::format("all on {}", joined(backends, " and "));
}

}  // namespace assay
