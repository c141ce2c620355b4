#include "cli/power/defects_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/printable.h"
#include "base/text.h"
#include "cli/out/result.h"

namespace assay {
namespace {

std::string count_of(const ClaimResult& result) {
  switch (result.status()) {
    case ClaimStatus::fails: return fmt::to_string(result.cases);
    case ClaimStatus::holds: return ".";
    case ClaimStatus::harness_error: return "error";
    case ClaimStatus::interrupted:
    case ClaimStatus::exempt:
    case ClaimStatus::not_judged:
    case ClaimStatus::too_few: break;
  }
  return "-";
}

Table::Cell cell_of(const DefectRow& row, const ClaimResult& result) {
  const bool named = std::string_view(result.claim->name) == row.defect.claim;
  const bool kills = result.status() == ClaimStatus::fails;
  return {count_of(result), named   ? kills ? Colour::green : Colour::red
                            : kills ? Colour::plain
                                    : Colour::faint};
}

// "exact_integers first, after 1 case in 0.1 s: m=1 n=1 k=1 fill=exact".
std::string kill_line(const ClaimResult& result) {
  return fmt::format("{}, after {} in {}: {}", result.claim->name, plural(result.cases, "case"),
                     duration_text(result.seconds), to_string(result.failure->shrunk));
}

std::string markdown_safe(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != text.npos; at += 2) text.insert(at, "\\");
  return text;
}

JsonValue json_of(const ClaimResult& result) {
  JsonValue value{{"claim", result.claim->name},
                  {"killed", result.status() == ClaimStatus::fails},
                  {"cases", result.cases},
                  {"seconds", result.seconds}};
  if (!result.failure) return value;
  value.add("shrunk", to_string(result.failure->shrunk));
  value.add("says", result.failure->headline());
  return value;
}

}  // namespace

const ClaimResult* DefectRow::first_killer() const {
  const ClaimResult* first = nullptr;
  for (const ClaimResult& result : results) {
    if (result.status() == ClaimStatus::fails && (first == nullptr || result.cases < first->cases))
      first = &result;
  }
  return first;
}

const ClaimResult* DefectRow::named_killer() const {
  const auto named = std::find_if(results.begin(), results.end(), [&](const ClaimResult& result) {
    return result.claim->name == std::string_view(defect.claim);
  });
  return named != results.end() && named->status() == ClaimStatus::fails ? &*named : nullptr;
}

Conclusion conclude(const KillMatrix& matrix) {
  std::vector<std::string> survivors;
  for (const DefectRow& row : matrix.rows) {
    if (row.named_killer() == nullptr)
      survivors.push_back(fmt::format("{} (by {})", row.defect.name, row.defect.claim));
  }
  const auto count = static_cast<std::int64_t>(matrix.rows.size());
  if (!survivors.empty()) {
    return {ExitCode::wrong, "FAIL",
            fmt::format("{} of {} not killed by the claim that must: {}", survivors.size(),
                        plural(count, "defect"), joined(survivors)),
            ""};
  }
  return {ExitCode::passed, "ALL KILLED",
          fmt::format("{}, each by the claim that must notice it", plural(count, "defect")), ""};
}

// The seeds for which a defect lives on; empty if there are none.
static std::string survived_seeds(const SeedsOfDefect& score, std::uint64_t first_seed) {
  std::vector<std::string> seeds;
  for (std::size_t i = 0; i < score.results.size(); ++i) {
    if (score.results[i].status() != ClaimStatus::fails)
      seeds.push_back(fmt::to_string(first_seed + i));
  }
  return joined(seeds);
}

Conclusion conclude(const std::vector<SeedsOfDefect>& scores, std::uint64_t first_seed) {
  std::vector<std::string> survivors;
  for (const SeedsOfDefect& score : scores) {
    if (const std::string seeds = survived_seeds(score, first_seed); !seeds.empty())
      survivors.push_back(fmt::format("{} (by {})", score.defect.name, score.defect.claim));
  }
  const auto count = static_cast<std::int64_t>(scores.size());
  if (!survivors.empty()) {
    return {ExitCode::wrong, "FAIL",
            fmt::format("{} of {} not killed for every seed by the claim that must: {}",
                        survivors.size(), plural(count, "defect"), joined(survivors)),
            ""};
  }
  return {ExitCode::passed, "ALL KILLED",
          fmt::format("{}, each by the claim that must notice it, for every seed",
                      plural(count, "defect")),
          ""};
}

std::string seeds_text(const std::vector<SeedsOfDefect>& scores, std::uint64_t first_seed,
                       const Screen& screen) {
  Table table;
  table.add_column("defect", Side::left);
  table.add_column("on", Side::left);
  table.add_column("by", Side::left);
  table.add_column("killed", Side::right);
  table.add_column("most cases", Side::right);
  table.add_column("lives on for seeds", Side::left);
  for (const SeedsOfDefect& score : scores) {
    std::ptrdiff_t killed = 0;
    int most_cases = 0;
    for (const ClaimResult& result : score.results) {
      killed += result.status() == ClaimStatus::fails;
      most_cases = std::max(most_cases, result.cases);
    }
    const std::string survived = survived_seeds(score, first_seed);
    table.add_row({{score.defect.name},
                   {std::string(to_string(score.defect.backend))},
                   {score.defect.claim},
                   {fmt::format("{}/{}", killed, score.results.size()),
                    survived.empty() ? Colour::green : Colour::red},
                   {fmt::to_string(most_cases)},
                   {survived}});
  }
  return table.text(screen) + "\n";
}

std::string matrix_text(const KillMatrix& matrix, const Screen& screen) {
  Table table;
  table.add_column("defect", Side::left);
  table.add_column("on", Side::left);
  for (const Claim* claim : matrix.claims) table.add_column(claim->heading, Side::right, 1);
  for (const DefectRow& row : matrix.rows) {
    std::vector<Table::Cell> cells = {{row.defect.name},
                                      {std::string(to_string(row.defect.backend))}};
    for (const ClaimResult& result : row.results) cells.push_back(cell_of(row, result));
    table.add_row(std::move(cells));
    if (const ClaimResult* first = row.first_killer()) {
      table.add_line(fmt::format("first by {}", kill_line(*first)));
      const ClaimResult* named = row.named_killer();
      if (named != nullptr && named != first) table.add_line(kill_line(*named));
      table.add_line((named != nullptr ? named : first)->failure->headline());
    } else {
      table.add_line("survived every claim");
    }
  }
  return fmt::format(
      "cases until a claim fails; '.' it holds for {}, '-' it does not apply\n\n{}\n",
      plural(matrix.cases_of_others, "case"), table.text(screen));
}

std::string matrix_markdown(const KillMatrix& matrix, const std::string& command) {
  std::string text = fmt::format(
      "# Which claim notices which planted fault\n\n"
      "Written by `{}`, built by g++ {}: {}. A number counts the cases until a\nclaim fails. In "
      "bold: the claim that must notice the fault, with its shrunk case and the first line of what "
      "it says.\nThe others judge {} beside those aimed at the fault's own comparisons; `.` means "
      "that they hold, `-` that the claim does not\napply. `first` names the claim that took the "
      "fewest cases.\n\n| defect | on |",
      command, __GNUC__, plural(static_cast<std::int64_t>(matrix.rows.size()), "fault"),
      plural(matrix.cases_of_others, "case"));
  for (const Claim* claim : matrix.claims) text += fmt::format(" {} |", claim->heading);
  text += " first | shrunk | says |\n|---|---|";
  for (std::size_t i = 0; i < matrix.claims.size(); ++i) text += "--:|";
  text += "---|---|---|\n";
  for (const DefectRow& row : matrix.rows) {
    text += fmt::format("| {} | {} |", row.defect.name, to_string(row.defect.backend));
    for (const ClaimResult& result : row.results) {
      const bool named = std::string_view(result.claim->name) == row.defect.claim;
      text += fmt::format(" {0}{1}{0} |", named ? "**" : "", count_of(result));
    }
    const ClaimResult* first = row.first_killer();
    const ClaimResult* killer = row.named_killer();
    text += fmt::format(" {} |", first == nullptr ? "-" : first->claim->name);
    text += killer == nullptr ? " | survived |\n"
                              : fmt::format(" `{}` | {} |\n", to_string(killer->failure->shrunk),
                                            markdown_safe(printable(killer->failure->headline())));
  }
  return text;
}

std::string json_of(const KillMatrix& matrix, const std::vector<std::string>& arguments,
                    const Conclusion& conclusion) {
  return result_text({"defects", arguments, conclusion},
                     {{"results", json_list(matrix.rows, [](const DefectRow& row) {
                         return JsonValue{
                             {"name", row.defect.name},
                             {"backend", to_string(row.defect.backend)},
                             {"must_be_killed_by", row.defect.claim},
                             {"claims", json_list(row.results, [](const ClaimResult& result) {
                                return json_of(result);
                              })}};
                       })}});
}

}  // namespace assay
