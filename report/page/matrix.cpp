#include <fmt/format.h>

#include <algorithm>

#include "report/page/sections.h"
#include "report/words.h"

namespace assay::report {
namespace {

struct Sign {
  const char* sign;
  const char* style;
};

Sign sign_of(const std::string& status) {
  if (status == "holds" || status == "same" || status == "timed" || status == "counted" ||
      status == "killed")
    return {"✓", "good"};
  if (status == "faster") return {"▲", "good"};
  if (status == "fails" || status == "wrong" || status == "failed" || status == "survived")
    return {"✗", "bad"};
  if (status == "slower") return {"▼", "bad"};
  if (status == "exempt" || status == "refused" || status == "not_timed") return {"–", "faint"};
  return {"?", "unsure"};
}

std::string words_of(const MergedClaim& claim) {
  if (claim.status == "holds")
    return fmt::format("{} holds, {}", claim.claim, counted(claim.cases, "case"));
  return fmt::format("{} {}: {}", claim.claim,
                     claim.status == "exempt" ? "does not apply" : claim.status,
                     shortened(claim.reason, 1, 200));
}

Markup cell_of(const MergedClaim* claim) {
  if (claim == nullptr)
    return tag("td", tag("span", {{"class", "hidden"}}, "not in these results"));
  const Sign sign = sign_of(claim->status);
  const std::string words = words_of(*claim);
  const Markup mark = tag("span", {{"aria-hidden", "true"}},
                          claim->contradiction.empty() ? sign.sign : std::string(sign.sign) + "!");
  return tag("td", {{"class", sign.style}, {"title", words}},
             mark + tag("span", {{"class", "hidden"}}, words));
}

Markup paths_of(const VariantReport& variant) {
  if (!variant.paths) return tag("td");
  if (!variant.paths->unknown.empty())
    return tag("td", {{"class", "faint"}, {"title", variant.paths->unknown}}, "–");
  return tag("td", {{"class", variant.paths->one_way.empty() ? "good" : "unsure"}},
             fmt::format("{}/{}", variant.paths->went_both_ways, variant.paths->comparisons));
}

Markup speed_of(const VariantReport& variant) {
  if (variant.cells.empty()) return tag("td");
  std::int64_t slower = 0, unsure = 0;
  for (const MergedCell& cell : variant.cells) {
    slower += cell.status == "slower" || cell.status == "wrong";
    unsure += cell.status != "same" && cell.status != "faster";
  }
  const auto all = static_cast<std::int64_t>(variant.cells.size());
  if (slower > 0) return tag("td", {{"class", "bad"}}, fmt::format("▼ {} of {}", slower, all));
  if (unsure > 0) return tag("td", {{"class", "unsure"}}, fmt::format("? {} of {}", unsure, all));
  return tag("td", {{"class", "good"}}, fmt::format("✓ {}", all));
}

// Claims that apply to some variant; columns of the others would say nothing.
std::vector<ClaimName> applying(const Report& report) {
  std::vector<ClaimName> some;
  for (const ClaimName& name : report.claims) {
    const bool applies = std::ranges::any_of(report.variants, [&](const VariantReport& variant) {
      return std::ranges::any_of(variant.claims, [&](const MergedClaim& claim) {
        return claim.claim == name.name && claim.status != "exempt";
      });
    });
    if (applies) some.push_back(name);
  }
  return some;
}

Markup row_of(const Report& report, const std::vector<ClaimName>& claims,
              const VariantReport& variant, const std::string& backend) {
  const Markup name =
      tag("a", {{"href", anchor_of(report, variant.about.name)}}, variant.about.name);
  Markup row = tag("th", {{"scope", "row"}}, name) + tag("td", backend);
  for (const ClaimName& claim : claims) row += cell_of(variant.claim(backend, claim.name));
  return tag("tr", row + paths_of(variant) + speed_of(variant));
}

}  // namespace

Markup badge(const std::string& status) {
  const Sign sign = sign_of(status);
  return tag("span", {{"class", fmt::format("badge {}", sign.style)}},
             tag("span", {{"aria-hidden", "true"}}, sign.sign) + " " + status);
}

Markup matrix_section(const Report& report) {
  const auto claims = applying(report);
  Markup head = tag("th", {{"scope", "col"}}, "variant") + tag("th", {{"scope", "col"}}, "on");
  for (const ClaimName& claim : claims) {
    const std::string words =
        claim.sentence.empty() ? claim.name : fmt::format("{}: {}", claim.name, claim.sentence);
    head += tag("th", {{"scope", "col"}, {"class", "claim"}, {"title", words}},
                tag("span", claim.name));
  }
  for (const char* name : {"paths", "not slower"})
    head += tag("th", {{"scope", "col"}, {"class", "claim"}}, tag("span", name));
  Markup rows;
  for (const VariantReport& variant : report.variants) {
    std::vector<std::string> backends = variant.backends();
    if (backends.empty()) backends.emplace_back();
    for (const std::string& backend : backends) rows += row_of(report, claims, variant, backend);
  }
  if (rows.empty()) return {};
  const std::size_t others = report.claims.size() - claims.size();
  const std::string left_out =
      others == 0 ? ""
                  : fmt::format("; {} apply to none of these",
                                counted(static_cast<std::int64_t>(others), "more claim"));
  const Markup grid = tag("table", {{"class", "matrix"}},
                          tag("caption", {{"class", "hidden"}},
                              "Which claims hold for which variant on which backend") +
                              tag("thead", tag("tr", head)) + tag("tbody", rows));
  return tag("section", {{"id", "matrix"}},
             tag("h2", "Variants and claims") +
                 tag("p", {{"class", "legend"}},
                     "✓ holds, ✗ fails, – does not apply, ? not judged, ! results contradict each "
                     "other; paths: comparisons that went both ways" +
                         left_out) +
                 tag("div",
                     {{"class", "wide"},
                      {"tabindex", "0"},
                      {"role", "region"},
                      {"aria-label", "Matrix of variants and claims"}},
                     grid));
}

}  // namespace assay::report
