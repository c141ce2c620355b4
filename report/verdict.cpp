#include "report/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/text.h"
#include "report/words.h"

namespace assay::report {
namespace {

constexpr double near_the_bound = 0.9;

std::string name_of(const VariantReport& variant, const std::string& backend) {
  return variant.backends().size() > 1 ? fmt::format("{} on {}", variant.about.name, backend)
                                       : variant.about.name;
}

// "breaks beta_zero: 'does not read C where beta is 0'"
std::string broken_claim(const Report& report, const std::string& name) {
  const auto known = std::ranges::find(report.claims, name, &ClaimName::name);
  const bool is_told = known != report.claims.end() && !known->sentence.empty();
  return fmt::format("breaks {}{}", name, is_told ? fmt::format(": '{}'", known->sentence) : "");
}

void add_failures(const Report& report, const VariantReport& variant, std::vector<Attention>& all) {
  for (const std::string& backend : variant.backends()) {
    const MergedClaim* lead = variant.lead(backend);
    if (lead == nullptr) continue;
    std::vector<std::string> others;
    for (const MergedClaim& claim : variant.claims)
      if (&claim != lead && claim.backend == backend && claim.status == "fails")
        others.push_back(claim.claim);
    Attention item = {.kind = Kind::wrong,
                      .variant = variant.about.name,
                      .what = fmt::format("{} {}: {}", name_of(variant, backend),
                                          lead->failure ? "is wrong" : "fails", lead->reason),
                      .rule = lead->claim};
    if (const auto& failure = lead->failure) {
      const bool crashed = failure->status != "wrong";
      item.what = fmt::format("{} {}: {}", name_of(variant, backend),
                              crashed ? failure->status : "is wrong", failure->headline);
      item.details.push_back(broken_claim(report, failure->claim));
      if (failure->reason != failure->headline) item.details.push_back(failure->reason);
      if (!failure->branch.empty()) item.details.push_back(failure->branch);
      item.picture = failure->picture;
      item.repeat = failure->replay;
      item.places = failure->places;
      item.rule = failure->claim;
    }
    if (!others.empty()) item.details.push_back(fmt::format("also fails: {}", joined(others)));
    all.push_back(std::move(item));
  }
}

// The cells of a variant that end alike, as one item that shows the worst of them.
void add_cells(const VariantReport& variant, const char* status, Kind kind,
               std::vector<Attention>& all) {
  std::vector<const MergedCell*> cells;
  for (const MergedCell& cell : variant.cells)
    if (cell.status == status) cells.push_back(&cell);
  if (cells.empty()) return;
  std::ranges::stable_sort(cells, std::greater(),
                           [](const MergedCell* c) { return c->ratio.value; });
  const MergedCell& worst = *cells.front();
  const bool is_timed = kind == Kind::slower && worst.ratio.value > 0;
  Attention item = {
      .kind = kind,
      .variant = variant.about.name,
      .what = fmt::format("{} is {} on {} of {}", variant.about.name, status,
                          grouped(static_cast<std::int64_t>(cells.size())),
                          counted(static_cast<std::int64_t>(variant.cells.size()), "problem")),
      .repeat = worst.repeat,
      .rule = status};
  if (is_timed)
    item.what += fmt::format(", by up to {} ({})", change_of(worst.ratio.value), worst.problem);
  item.details.push_back(fmt::format("{}: {}", worst.problem, worst.reason));
  if (!worst.cause.empty()) item.details.push_back(fmt::format("cause: {}", worst.cause));
  all.push_back(std::move(item));
}

// Those that the same results make are one item.
void add_contradictions(const VariantReport& variant, std::vector<Attention>& all) {
  std::map<std::string, std::vector<std::string>> about;
  for (const MergedClaim& claim : variant.claims)
    if (!claim.contradiction.empty())
      about[claim.contradiction].push_back(fmt::format("{} on {}", claim.claim, claim.backend));
  for (const MergedCell& cell : variant.cells)
    if (!cell.contradiction.empty()) about[cell.contradiction].push_back(cell.problem);
  for (const auto& [contradiction, subjects] : about) {
    all.push_back({.kind = Kind::contradiction,
                   .variant = variant.about.name,
                   .what = fmt::format("{} is {}", variant.about.name, contradiction),
                   .details = {some_of(subjects, 3)},
                   .rule = "contradiction"});
  }
}

void add_unjudged(const VariantReport& variant, std::vector<Attention>& all) {
  for (const MergedClaim& claim : variant.claims) {
    if (claim.status != "error" && claim.status != "interrupted" && claim.status != "not_judged")
      continue;
    all.push_back({.kind = Kind::undecided,
                   .variant = variant.about.name,
                   .what = fmt::format("{}, {} was not judged: {}", name_of(variant, claim.backend),
                                       claim.claim, claim.reason),
                   .rule = claim.claim});
  }
}

// Those of one line together: compilers make many of one, in loops that they unroll and templates.
// Where there are many lines, one entry tells them all.
void add_unreached(const VariantReport& variant, std::vector<Attention>& all) {
  if (!variant.paths) return;
  constexpr std::size_t few = 3, most_told = 6;
  std::map<std::pair<std::string, std::int64_t>, std::vector<const OneWay*>> by_line;
  for (const OneWay& way : variant.paths->one_way)
    by_line[{way.place.file, way.place.line}].push_back(&way);
  const auto unreached = [&](std::size_t comparisons, const std::string& where) {
    return Attention{
        .kind = Kind::unreached,
        .variant = variant.about.name,
        .what = fmt::format(
            "{}: {} never went both ways{}", variant.about.name,
            comparisons == 1 ? "a comparison" : fmt::format("{} comparisons", comparisons), where),
        .rule = "one_way"};
  };
  const bool is_long = by_line.size() > few;
  Attention together = unreached(variant.paths->one_way.size(),
                                 fmt::format(", in {} lines", by_line.size()));
  for (const auto& [line, ways] : by_line) {
    const OneWay& way = *ways.front();
    const std::string where = fmt::format("{}:{}{}{}", line.first, line.second,
                                          way.source.empty() ? "" : ": ", way.source);
    if (is_long) {
      if (together.details.size() < most_told) together.details.push_back(where);
      together.places.push_back(way.place);
      continue;
    }
    std::vector<std::string> evidence;
    for (const OneWay* one : ways)
      if (std::ranges::count(evidence, one->evidence) == 0) evidence.push_back(one->evidence);
    all.push_back(unreached(ways.size(), ": " + where));
    all.back().details = {some_of(evidence, 3)};
    all.back().places = {way.place};
  }
  if (!is_long) return;
  if (by_line.size() > most_told)
    together.details.push_back(fmt::format("and {} more lines", by_line.size() - most_told));
  all.push_back(std::move(together));
}

// Right, but with little room: the next compiler may take it.
void add_near(const VariantReport& variant, std::vector<Attention>& all) {
  for (const MergedClaim& claim : variant.claims) {
    if (claim.status != "holds" || !(claim.worst_gulps >= near_the_bound * claim.allowed_gulps) ||
        !(claim.allowed_gulps > 0))
      continue;
    all.push_back({.kind = Kind::near,
                   .variant = variant.about.name,
                   .what = fmt::format("{}, {}: the worst error is {} of {} gulps allowed",
                                       name_of(variant, claim.backend), claim.claim,
                                       digits(claim.worst_gulps), digits(claim.allowed_gulps)),
                   .rule = claim.claim});
  }
}

// What a whole command could not decide, or decides in a way that no single result shows.
void add_sources(const Report& report, std::vector<Attention>& all) {
  for (const Source& source : report.sources) {
    const bool is_bad = source.exit_code != 0 && source.exit_code != 77;
    if (!is_bad) continue;
    const bool is_known =
        source.exit_code == 1 && std::any_of(all.begin(), all.end(), [](const Attention& item) {
          return item.kind == Kind::wrong || item.kind == Kind::slower;
        });
    if (is_known) continue;
    all.push_back({.kind = source.exit_code == 1 ? Kind::wrong : Kind::undecided,
                   .what = fmt::format("assay {}: {}", source.command, source.summary),
                   .details = {source.file},
                   .repeat = source.next,
                   .rule = "run"});
  }
}

std::vector<Attention> attention_in(const Report& report) {
  std::vector<Attention> all;
  for (const VariantReport& variant : report.variants) {
    add_failures(report, variant, all);
    add_cells(variant, "wrong", Kind::wrong, all);
    add_cells(variant, "slower", Kind::slower, all);
    add_contradictions(variant, all);
    add_unjudged(variant, all);
    add_cells(variant, "invalid", Kind::undecided, all);
    add_cells(variant, "undecided", Kind::undecided, all);
    add_cells(variant, "no baseline", Kind::undecided, all);
    add_unreached(variant, all);
    add_near(variant, all);
  }
  add_sources(report, all);
  std::ranges::stable_sort(all, {}, &Attention::kind);
  return all;
}

std::string sentence_on_claims(const Report& report) {
  std::vector<std::string> wrong;
  std::int64_t right = 0, judged = 0, cases = 0;
  for (const VariantReport& variant : report.variants) {
    if (variant.is_wrong()) wrong.push_back(variant.about.name);
    right += variant.is_right();
    judged += variant.is_wrong() || !variant.claims.empty();
    for (const MergedClaim& claim : variant.claims) cases += claim.cases;
  }
  if (judged == 0) return "";
  const std::string reach = fmt::format("in {}", counted(cases, "case"));
  if (wrong.empty()) {
    if (right == 0) return "no variant was judged";
    const std::string all = fmt::format("{} right {}", counted(right, "variant"), reach);
    return right == judged ? all : fmt::format("{}, {} not judged to the end", all, judged - right);
  }
  return fmt::format("{} of {} {} wrong: {}; {} {}",
                     grouped(static_cast<std::int64_t>(wrong.size())), counted(judged, "variant"),
                     verb(static_cast<std::int64_t>(wrong.size())), some_of(wrong),
                     right == 0 ? "judged" : fmt::format("{} right", right), reach);
}

std::string sentence_on_speed(const Report& report) {
  std::map<std::string, std::int64_t> with;
  std::vector<std::string> slower;
  std::int64_t cells = 0;
  for (const VariantReport& variant : report.variants) {
    for (const MergedCell& cell : variant.cells) {
      ++cells;
      ++with[cell.status];
      if (cell.status == "slower") add_once(slower, variant.about.name);
    }
  }
  if (cells == 0) return "";
  double seen = 0;
  for (const Source& source : report.sources)
    if (source.command == "gate time" && source.unfit.empty() && source.detectable > seen)
      seen = source.detectable;
  std::vector<std::string> parts;
  if (!slower.empty())
    parts.push_back(fmt::format("{} of {} {} slower: {}", with["slower"], counted(cells, "cell"),
                                verb(with["slower"]), some_of(slower)));
  const std::int64_t fine = with["same"] + with["faster"];
  if (fine > 0)
    parts.push_back(
        fmt::format("{} not slower", slower.empty() ? counted(fine, "cell") : grouped(fine)));
  for (const char* status : {"invalid", "undecided", "no baseline"})
    if (with[status] > 0)
      parts.push_back(
          fmt::format("{} {}", with[status],
                      std::string_view(status) == "no baseline" ? "without a baseline" : status));
  if (seen > 0) parts.push_back(fmt::format("{:.1f} % would have been seen", 100 * seen));
  return joined(parts);
}

std::string sentence_on_paths(const Report& report) {
  std::int64_t known = 0, one_way = 0;
  for (const VariantReport& variant : report.variants) {
    if (!variant.paths || !variant.paths->unknown.empty()) continue;
    known += variant.paths->comparisons;
    one_way += static_cast<std::int64_t>(variant.paths->one_way.size());
  }
  if (known == 0) return "";
  return one_way == 0 ? fmt::format("all {} went both ways", counted(known, "comparison"))
                      : fmt::format("{} never went both ways", counted(one_way, "comparison"));
}

std::string sentence_of(const Report& report) {
  std::vector<std::string> parts;
  for (const std::string& part :
       {sentence_on_claims(report), sentence_on_speed(report), sentence_on_paths(report)})
    if (!part.empty()) parts.push_back(part);
  return parts.empty() ? "these results judge no variant" : joined(parts, "; ");
}

}  // namespace

const char* to_string(Kind kind) {
  switch (kind) {
    case Kind::wrong: return "wrong";
    case Kind::slower: return "slower";
    case Kind::contradiction: return "contradiction";
    case Kind::undecided: return "undecided";
    case Kind::unreached: return "unreached";
    case Kind::near: return "near the bound";
  }
  return "";
}

Verdict verdict_of(const Report& report) {
  Verdict verdict = {.sentence = sentence_of(report), .attention = attention_in(report)};
  const auto has = [&](auto... kinds) {
    return std::any_of(verdict.attention.begin(), verdict.attention.end(),
                       [&](const Attention& item) { return ((item.kind == kinds) || ...); });
  };
  const bool judged =
      std::any_of(report.sources.begin(), report.sources.end(),
                  [](const Source& source) { return source.judges() && source.exit_code != 77; });
  verdict.word = has(Kind::wrong, Kind::slower, Kind::contradiction) ? "FAIL"
                 : has(Kind::undecided)                              ? "UNDECIDED"
                 : judged                                            ? "PASS"
                                                                     : "NOTHING JUDGED";
  return verdict;
}

}  // namespace assay::report
