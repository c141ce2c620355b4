#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "report/page/plots.h"
#include "report/page/sections.h"
#include "report/words.h"

namespace assay::report {
namespace {

Markup term(const std::string& name, const Markup& value) {
  return value.empty() ? Markup() : tag("dt", name) + tag("dd", value);
}

Markup facts_of(const About& about) {
  const std::string tile =
      about.tile_m * about.tile_n > 1
          ? fmt::format("{} x {} elements of C for each block", about.tile_m, about.tile_n)
          : "";
  const Markup facts = term("needs", joined(about.needs)) +
                       term("order of summation", about.order) +
                       term("arithmetic", about.arithmetic) + term("tile", tile);
  Markup all;
  if (!about.idea.empty()) all += tag("p", {{"class", "idea"}}, about.idea);
  return facts.empty() ? all : all + tag("dl", facts);
}

Markup picture_of(const Failure& failure, const About& about) {
  if (failure.picture.empty()) return {};
  const Markup text = tag("pre", shortened(failure.picture));
  if (!is_mask(failure)) return text;
  return svg_of(mask_of(failure, about)) + tag("details", tag("summary", "as text") + text);
}

Markup failure_of(const MergedClaim& claim, const About& about) {
  if (!claim.failure) return tag("p", shortened(claim.reason));
  const Failure& failure = *claim.failure;
  const bool was_shrunk = failure.shrunk != failure.original;
  const Markup facts =
      term("what", shortened(failure.reason)) + term("branch", failure.branch) +
      term(was_shrunk ? "shrunk case" : "case", tag("code", failure.shrunk)) +
      term("original", was_shrunk ? tag("code", failure.original) : Markup()) +
      term("repeat", failure.replay.empty() ? Markup() : command_line(failure.replay));
  return tag("p", {{"class", "diagnosis"}}, shortened(failure.headline)) +
         picture_of(failure, about) + tag("dl", facts);
}

// The failure that leads stands open; the others are folded.
Markup failures_on(const Report& report, const VariantReport& variant, const std::string& backend) {
  const MergedClaim* lead = variant.lead(backend);
  if (lead == nullptr) return {};
  const auto heading = [&](const MergedClaim& claim) {
    const std::string& name = claim.failure ? claim.failure->claim : claim.claim;
    const auto known = std::ranges::find(report.claims, name, &ClaimName::name);
    const bool is_told = known != report.claims.end() && !known->sentence.empty();
    return fmt::format("{} fails on {}{}", name, backend,
                       is_told ? fmt::format(": “{}” is not true", known->sentence) : "");
  };
  Markup all = tag("div", {{"class", "failure"}},
                   tag("h3", heading(*lead)) + failure_of(*lead, variant.about));
  for (const MergedClaim& claim : variant.claims) {
    if (&claim == lead || claim.backend != backend || claim.status != "fails") continue;
    all += tag(
        "details", {{"class", "failure"}},
        tag("summary", fmt::format("also: {}", heading(claim))) + failure_of(claim, variant.about));
  }
  return all;
}

// "2.4 of 16", with a bar.
Markup gulps_of(const MergedClaim& claim) {
  if (claim.status != "holds" || !(claim.allowed_gulps > 0) || !std::isfinite(claim.worst_gulps))
    return "";
  const double share = std::clamp(100 * claim.worst_gulps / claim.allowed_gulps, 0.0, 100.0);
  const Markup bar =
      tag("svg", {{"viewBox", "0 0 100 8"}, {"class", "bar"}, {"aria-hidden", "true"}},
          tag("rect", {{"width", "100"}, {"height", "8"}, {"class", "room"}}) +
              tag("rect", {{"width", position(share)}, {"height", "8"}, {"class", "used"}}));
  return bar + fmt::format(" {} of {}", digits(claim.worst_gulps), digits(claim.allowed_gulps));
}

Markup claims_of(const VariantReport& variant) {
  std::vector<std::vector<Markup>> rows;
  std::vector<std::string> exempt;
  for (const MergedClaim& claim : variant.claims) {
    if (claim.status == "exempt") {
      exempt.push_back(fmt::format("{} on {}: {}", claim.claim, claim.backend, claim.reason));
      continue;
    }
    const std::string note = claim.contradiction.empty() ? claim.reason : claim.contradiction;
    rows.push_back({claim.claim, claim.backend, badge(claim.status), grouped(claim.cases),
                    magnitude(claim.elements), gulps_of(claim), shortened(note, 2, 300)});
  }
  if (rows.empty() && exempt.empty()) return {};
  Markup left_out;
  for (const std::string& one : exempt) left_out += tag("li", one);
  Markup all =
      rows.empty()
          ? Markup()
          : table("Claims about " + variant.about.name,
                  {"claim", "on", "", "cases", "elements", "worst error, gulps", "why"}, rows);
  if (!exempt.empty())
    all +=
        tag("details", tag("summary", counted(static_cast<std::int64_t>(exempt.size()), "claim") +
                                          " not applicable") +
                           tag("ul", left_out));
  const bool is_bad = variant.is_wrong() || !variant.is_right();
  return tag("details", is_bad ? Attributes{{"open", ""}} : Attributes{},
             tag("summary", "Claims: cases, elements and the worst error") + all);
}

Markup errors_of(const VariantReport& variant) {
  Markup all;
  for (const Spread& spread : variant.spreads) {
    if (spread.points.empty()) continue;
    all += svg_of(spread, fmt::format("Errors over k on {}, fill={}", spread.backend, spread.fill));
  }
  return all;
}

Markup changes_of(const VariantReport& variant) {
  DotPlot plot{.title = "Change of time against the baseline",
               .axis = "change of time, % (99 % interval): less is faster",
               .reference_name = "the baseline"};
  std::vector<std::vector<Markup>> rows;
  std::int64_t unchanged = 0;
  for (const MergedCell& cell : variant.cells) {
    const bool timed = cell.ratio.value > 0 && std::isfinite(cell.ratio.value);
    const bool is_bad = cell.status == "slower" || cell.status == "wrong";
    unchanged += !timed && cell.unchanged;
    if (timed)
      plot.rows.push_back(
          {cell.problem,
           change_of(cell.ratio.value),
           {100 * (cell.ratio.value - 1), 100 * (cell.ratio.low - 1), 100 * (cell.ratio.high - 1)},
           is_bad                    ? "bad"
           : cell.status == "faster" ? "good"
                                     : "plain"});
    std::string why = cell.contradiction.empty() ? cell.reason : cell.contradiction;
    if (!cell.cause.empty()) why += "; " + cell.cause;
    rows.push_back({tag("code", cell.problem), cell.card, badge(cell.status),
                    timed ? change_of(cell.ratio.value) : "",
                    cell.time_us > 0 ? digits(cell.time_us) : "",
                    cell.baseline_us > 0 ? digits(cell.baseline_us) : "", shortened(why, 3, 400),
                    cell.status == "same" ? Markup() : command_line(cell.repeat)});
  }
  if (rows.empty()) return {};
  plot.alternative =
      fmt::format("{} timed, {} proven unchanged",
                  counted(static_cast<std::int64_t>(plot.rows.size()), "problem"), unchanged);
  const Markup numbers =
      table("Times of " + variant.about.name,
            {"problem", "card", "", "change", "us", "baseline, us", "why", "repeat"}, rows);
  return (plot.rows.empty() ? Markup() : svg_of(plot)) +
         tag("details", tag("summary", fmt::format("Numbers: {}", plot.alternative)) + numbers);
}

Markup timings_of(const Report& report, const VariantReport& variant) {
  DotPlot plot{
      .title = "Speed beside cuBLAS",
      .axis = "% of cuBLAS's speed (95 % interval): more is faster",
      .alternative = fmt::format(
          "{} timed", counted(static_cast<std::int64_t>(variant.timings.size()), "problem")),
      .reference = 100,
      .reference_name = "cuBLAS"};
  std::vector<std::vector<Markup>> rows;
  for (const Timing& one : variant.timings) {
    if (one.percent_of_cublas.value > 0)
      plot.rows.push_back({one.problem, fmt::format("{:.1f} %", one.percent_of_cublas.value),
                           one.percent_of_cublas, "plain"});
    rows.push_back({tag("code", one.problem), badge(one.status), digits(one.time_us.value),
                    digits(one.tflops), digits(one.percent_of_cublas.value),
                    digits(one.percent_of_peak), digits(one.percent_of_roofline),
                    shortened(one.reason, 3, 400)});
  }
  if (rows.empty()) return {};
  return (plot.rows.empty() ? Markup() : svg_of(plot)) + rooflines_of(report, variant) +
         tag("details", tag("summary", "Numbers: times") +
                            table("Times of " + variant.about.name,
                                  {"problem", "", "us", "TFLOP/s", "% of cuBLAS", "% of peak",
                                   "% of roofline", "why"},
                                  rows));
}

Markup traffic_of(const VariantReport& variant) {
  std::vector<std::vector<Markup>> rows;
  for (const Traffic& one : variant.traffic) {
    rows.push_back({tag("code", one.problem), badge(one.status), magnitude(one.load_requests),
                    magnitude(one.load_sectors), magnitude(one.bytes_moved),
                    magnitude(one.wavefronts), magnitude(one.barriers), magnitude(one.ffma),
                    digits(one.intensity), shortened(one.reason, 3, 400)});
  }
  if (rows.empty()) return {};
  return tag("h3", "Counted traffic") +
         table("Counted traffic of " + variant.about.name,
               {"problem", "", "load requests", "load sectors", "bytes moved", "shared wavefronts",
                "barriers", "FFMA", "flop/byte", "why"},
               rows);
}

Markup paths_of(const VariantReport& variant) {
  if (!variant.paths) return {};
  const Paths& paths = *variant.paths;
  if (!paths.unknown.empty())
    return tag("p", fmt::format("Paths: not known, for {}.", paths.unknown));
  Markup all = tag("p", fmt::format("Paths: {} of {} went both ways.", paths.went_both_ways,
                                    counted(paths.comparisons, "comparison")));
  Markup items;
  for (const OneWay& way : paths.one_way)
    items += tag("li", fmt::format("{}:{}: ", way.place.file, way.place.line) +
                           tag("code", way.source) + ": " + way.evidence);
  return items.empty() ? all : all + tag("ul", items);
}

}  // namespace

Markup variant_section(const Report& report, const VariantReport& variant) {
  const std::string& name = variant.about.name;
  std::int64_t slower = 0;
  for (const MergedCell& cell : variant.cells) slower += cell.status == "slower";
  Markup heading = Markup(name) + " ";
  if (variant.is_wrong()) heading += badge("wrong");
  if (variant.is_right())
    heading += tag("span", {{"class", "badge good"}},
                   tag("span", {{"aria-hidden", "true"}}, "✓") + " right");
  if (slower > 0) heading += " " + badge("slower");
  Markup failures;
  for (const std::string& backend : variant.backends())
    failures += failures_on(report, variant, backend);
  return tag("section", {{"id", anchor_of(report, name).substr(1)}, {"class", "variant"}},
             tag("h2", heading) + facts_of(variant.about) + failures + claims_of(variant) +
                 paths_of(variant) + errors_of(variant) + changes_of(variant) +
                 history_of(variant) + timings_of(report, variant) + traffic_of(variant));
}

}  // namespace assay::report
