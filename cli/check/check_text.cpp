#include "cli/check/check_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "base/printable.h"
#include "base/text.h"
#include "cli/check/paths.h"

namespace assay {
namespace {

using Results = std::vector<ClaimResult>::const_iterator;

// Calls visit(begin, end) for the results of each entry.
template <class Visit>
void for_each_entry(const std::vector<ClaimResult>& results, Visit&& visit) {
  for (auto begin = results.begin(); begin != results.end();) {
    const auto end = std::find_if(begin, results.end(), [&](const ClaimResult& result) {
      return !same_entry(result.entry, begin->entry);
    });
    visit(begin, end);
    begin = end;
  }
}

Table::Cell cell_of(const Skip& skip) {
  switch (skip.by) {
    case Skip::By::variant: return {"ref", Colour::yellow};
    case Skip::By::empty_c: return {"none", Colour::yellow};
    case Skip::By::claim:
    case Skip::By::machine: break;
  }
  return {".", Colour::faint};
}

Table::Cell cell_of(const ClaimResult& result) {
  switch (result.status()) {
    case ClaimStatus::holds: return {fmt::to_string(result.cases)};
    case ClaimStatus::fails: return {"FAIL", Colour::red};
    case ClaimStatus::interrupted: return {"ends", Colour::yellow};
    case ClaimStatus::exempt: return {"-", Colour::faint};
    case ClaimStatus::not_judged: return cell_of(*result.skipped);
    case ClaimStatus::too_few:
      return {result.cases == 0 ? "none" : fmt::format("{}?", result.cases), Colour::red};
    case ClaimStatus::harness_error: return {"error", Colour::yellow};
  }
  return {};
}

// The error nearest to what was allowed, among all claims.
std::string worst_of(Results begin, Results end) {
  const ClaimResult* worst = nullptr;
  const auto share = [](const ClaimResult& r) { return r.worst_gulps / r.allowed_gulps; };
  for (auto r = begin; r != end; ++r) {
    if (r->allowed_gulps > 0 && (worst == nullptr || share(*r) > share(*worst))) worst = &*r;
  }
  return worst == nullptr ? ""
                          : fmt::format("{:.{}f}/{:.4g}", worst->worst_gulps,
                                        worst->worst_gulps < 99.95 ? 1 : 0, worst->allowed_gulps);
}

constexpr std::size_t screen_width = 120;

// A row for each variant and backend, those of a variant below each other, and a column for each
// claim that applies to any of them. Several tables share the claims where the screen is too
// narrow.
class VerdictTable {
 public:
  explicit VerdictTable(const CheckReport& report) : paths_(paths_of(report)) {
    for (const Claim* claim : report.selection.claims) {
      if (std::any_of(report.results.begin(), report.results.end(),
                      [&](const ClaimResult& result) { return is_shown(result, *claim); }))
        claims_.push_back(claim);
    }
    for_each_entry(report.results, [&](Results begin, Results end) { add_row(begin, end); });
  }

  std::string text(const Screen& screen) const {
    if (claims_.empty()) return "";
    std::size_t parts = 1;
    std::vector<Table> tables = in_parts(parts);
    while (parts < claims_.size() && !all_fit(tables)) tables = in_parts(++parts);
    std::string text;
    for (const Table& table : tables) text += fmt::format("\n{}", table.text(screen));
    return text;
  }

 private:
  struct Row {
    Results begin, end;
    const Entry& entry() const { return begin->entry; }
  };

  void add_row(Results begin, Results end) {
    const Row row{begin, end};
    const auto same = std::find_if(rows_.rbegin(), rows_.rend(), [&](const Row& other) {
      return std::string_view(other.entry().variant.name) == row.entry().variant.name;
    });
    rows_.insert(same == rows_.rend() ? rows_.end() : same.base(), row);
  }

  static bool is_shown(const ClaimResult& result, const Claim& claim) {
    return result.claim == &claim && result.status() != ClaimStatus::exempt;
  }

  static bool all_fit(const std::vector<Table>& tables) {
    return std::all_of(tables.begin(), tables.end(),
                       [](const Table& table) { return table.width() <= screen_width; });
  }

  std::vector<Table> in_parts(std::size_t parts) const {
    std::vector<Table> tables;
    for (std::size_t i = 0; i < parts; ++i) {
      const std::size_t first = claims_.size() * i / parts, last = claims_.size() * (i + 1) / parts;
      tables.push_back(table_of(std::span(claims_).subspan(first, last - first), i + 1 == parts));
    }
    return tables;
  }

  Table table_of(std::span<const Claim* const> claims, bool with_totals) const {
    Table table;
    table.add_column("variant", Side::left);
    table.add_column("on", Side::left);
    int gap = 2;
    for (const Claim* claim : claims)
      table.add_column(claim->heading, Side::right, std::exchange(gap, 1));
    if (with_totals) {
      if (!paths_.empty()) table.add_column("paths", Side::right);
      for (const char* heading : {"worst gulps", "elements", "time"})
        table.add_column(heading, Side::right);
    }
    std::string_view above;
    for (const auto& row : rows_) {
      const std::string_view name = row.entry().variant.name;
      std::vector<Table::Cell> cells = {{name == above ? "" : std::string(name)},
                                        {std::string(to_string(row.entry().backend))}};
      for (auto result = row.begin; result != row.end; ++result) {
        if (std::find(claims.begin(), claims.end(), result->claim) != claims.end())
          cells.push_back(cell_of(*result));
      }
      if (with_totals && !paths_.empty()) cells.push_back(paths_cell(row.entry()));
      if (with_totals) add_totals(cells, row.begin, row.end);
      table.add_row(std::move(cells));
      above = name;
    }
    return table;
  }

  Table::Cell paths_cell(const Entry& entry) const {
    for (const Paths& paths : paths_) {
      if (std::string_view(paths.entry.variant.name) != entry.variant.name) continue;
      const bool complete = paths.is_known() && paths.exploration->one_way.empty();
      return {paths.share(), complete ? Colour::plain : Colour::yellow};
    }
    return {};
  }

  static void add_totals(std::vector<Table::Cell>& row, Results begin, Results end) {
    std::int64_t elements = 0;
    double seconds = 0;
    for (auto result = begin; result != end; ++result) {
      elements += result->elements;
      seconds += result->seconds;
    }
    row.push_back({worst_of(begin, end)});
    row.push_back({count_text(elements)});
    row.push_back({duration_text(seconds)});
  }

  std::vector<const Claim*> claims_;
  std::vector<Paths> paths_;
  std::vector<Row> rows_;
};

std::string headings_of(const Remark& remark, const CheckReport& report) {
  if (remark.claims.size() > 1 && remark.claims.size() == report.selection.claims.size())
    return "all claims";
  std::vector<std::string> headings;
  for (const Claim* claim : remark.claims) headings.emplace_back(claim->heading);
  return joined(headings);
}

// The first remark on each variant, with the names of all that it is true of on a backend.
std::vector<std::pair<std::string, std::vector<std::string>>> remarks_on_variants(
    const CheckReport& report) {
  std::vector<std::pair<std::string, std::vector<std::string>>> all;
  for_each_entry(report.results, [&](Results begin, Results end) {
    const auto first = std::find_if(begin, end, [](const auto& r) { return !r.remark.empty(); });
    if (first == end) return;
    const Entry& entry = begin->entry;
    const std::string what = fmt::format(" on {}: {}", to_string(entry.backend), first->remark);
    const auto same =
        std::find_if(all.begin(), all.end(), [&](const auto& r) { return r.first == what; });
    (same != all.end() ? *same : all.emplace_back(what, std::vector<std::string>{}))
        .second.push_back(entry.variant.name);
  });
  return all;
}

std::string notes_text(const CheckReport& report) {
  const auto names = [&](const Remark& remark) {
    return names_of(remark.entries, report.selection.entries);
  };
  std::string text;
  for (const std::string& backend : report.selection.left_out)
    text += fmt::format("not on {}\n", backend);
  for (const Remark& remark : remarks(report, Skip::By::variant))
    text += fmt::format("{} refused: {}\n", names(remark), remark.reason);
  for (const Remark& remark : remarks(report, Skip::By::claim))
    text += fmt::format(". {}: {}\n", headings_of(remark, report), remark.reason);
  for (const Remark& remark : remarks(report, ClaimStatus::interrupted)) {
    text += fmt::format("ends: {}: {}: {}\n", headings_of(remark, report), names(remark),
                        remark.reason);
  }
  for (const Remark& remark : remarks(report, ClaimStatus::exempt))
    text +=
        fmt::format("- {}: {}: {}\n", headings_of(remark, report), names(remark), remark.reason);
  for (const Remark& remark : remarks(report, ClaimStatus::too_few))
    text += fmt::format("{}: {}: {}\n", headings_of(remark, report), names(remark), remark.reason);
  for (const Remark& remark : remarks(report, ClaimStatus::harness_error)) {
    text += fmt::format("error: {}: {}: {}\n", headings_of(remark, report), names(remark),
                        printable(remark.reason));
  }
  for (const auto& [what, names] : remarks_on_variants(report))
    text += fmt::format("remark: {}{}\n", joined(names), what);
  if (!remarks(report, Skip::By::empty_c).empty()) text += "none: C is empty: nothing to judge\n";
  return text;
}

std::string indented(const std::string& lines, int by) {
  std::string text;
  for (std::size_t begin = 0; begin < lines.size();) {
    const std::size_t end = std::min(lines.find('\n', begin), lines.size());
    text += fmt::format("{:{}}{}\n", "", by, lines.substr(begin, end - begin));
    begin = end + 1;
  }
  return text;
}

std::string steps_text(const Failure& failure) {
  return fmt::format(" ({}{}{})", plural(failure.shrink_steps, "step"),
                     failure.made_richer ? ", then a little larger, which shows what is wrong" : "",
                     failure.shrunk_fully ? "" : ", cut short: a smaller case may fail too");
}

// A range of k, a place in C: what only the original case has room for.
bool knows_what_the_shrunk_lacks(const Failure& failure) {
  const Verdict &original = failure.original_verdict, &shrunk = failure.verdict;
  return names_a_mistake(original.finding.fault) && !failure.made_richer &&
         original.diagnosis != shrunk.diagnosis;
}

const char* verb_for(TrialStatus status) {
  switch (status) {
    case TrialStatus::crashed: return "crashes";
    case TrialStatus::hung: return "never ends";
    default: return "is wrong";
  }
}

// First what is wrong and how to see it again, then what shows it.
std::string failure_text(const ClaimResult& result, const Screen& screen) {
  const Failure& failure = *result.failure;
  const Verdict& verdict = failure.verdict;
  const bool diagnosed = !verdict.diagnosis.empty();
  const std::string who =
      fmt::format("{} on {}", result.entry.variant.name, to_string(result.entry.backend));
  std::string text =
      fmt::format("{} {}: {}\n", screen.paint(who, Colour::red), verb_for(verdict.status),
                  printable(diagnosed ? verdict.diagnosis : verdict.reason));
  if (failure.branch) text += say("branch", printable(to_string(*failure.branch)));
  text += say("replay", replay_line(result, failure.sequence()));
  text += say("claim",
              fmt::format("'{}' ({}) is not true", result.broken().sentence, result.broken().name));
  if (result.entry.variant.column_major)
    text += say("layout", "column-major: its m and n, A and B are n and m, B and A of a case");
  for (const Case& c : failure.before) text += say("first", to_string(c));
  text += say(failure.before.empty() ? "shrunk" : "then",
              to_string(failure.shrunk) + steps_text(failure));
  if (diagnosed) text += say(to_string(verdict.status), verdict.reason);
  text += indented(verdict.picture, 13);
  text += say("original", to_string(failure.original));
  if (knows_what_the_shrunk_lacks(failure))
    text += indented(failure.original_verdict.diagnosis, 13);
  return text;
}

std::size_t variants_in(const std::vector<Entry>& entries) {
  std::vector<std::string_view> names;
  for (const Entry& entry : entries) names.emplace_back(entry.variant.name);
  std::sort(names.begin(), names.end());
  return static_cast<std::size_t>(std::unique(names.begin(), names.end()) - names.begin());
}

}  // namespace

std::string header_text(const CheckReport& report) {
  const auto& [entries, claims, left_out] = report.selection;
  const std::string what = fmt::format(
      "assay check: {}{}, {}", plural(static_cast<int>(variants_in(entries)), "variant"),
      report.model.empty() ? "" : fmt::format(" as on an {}", report.model),
      plural(static_cast<int>(claims.size()), "claim"));
  if (!report.given.empty()) {
    std::vector<std::string> cases;
    for (const Case& c : report.given) cases.push_back(to_string(c));
    return fmt::format("{}, the case {}\n", what, joined(cases, ", then "));
  }
  return fmt::format("{}, {} each, seed {}\n", what, plural(report.budget.cases, "case"),
                     report.budget.seed);
}

std::string table_text(const CheckReport& report, const Screen& screen) {
  const std::string text = VerdictTable(report).text(screen);
  const std::string notes = notes_text(report) + paths_text(report);
  return notes.empty() ? text : fmt::format("{}\n{}", text, notes);
}

std::string failures_text(const CheckReport& report, const Screen& screen) {
  std::string text;
  for_each_entry(report.results, [&](Results begin, Results end) {
    const ClaimResult* const lead = lead_of({begin, end});
    if (lead == nullptr) return;
    text += fmt::format("\n{}", failure_text(*lead, screen));
    std::vector<std::string> others;
    for (auto result = begin; result != end; ++result) {
      if (result->status() == ClaimStatus::fails && &*result != lead)
        others.emplace_back(result->claim->name);
    }
    if (!others.empty()) text += fmt::format("  also fails: {}\n", joined(others));
  });
  return text;
}

}  // namespace assay
