#include "report/page/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "report/embedded.h"
#include "report/page/plots.h"
#include "report/page/sections.h"
#include "report/words.h"

namespace assay::report {
namespace {

constexpr std::size_t most_shown = 40;  // of what needs attention; each variant has all of its own

const char* style_of(Kind kind) {
  return kind == Kind::wrong || kind == Kind::slower || kind == Kind::contradiction ? "bad"
                                                                                    : "unsure";
}

Markup item_of(const Report& report, const Attention& item) {
  Markup what = shortened(item.what, 4, 600);
  if (!item.variant.empty() && item.what.starts_with(item.variant)) {
    what = tag("a", {{"href", anchor_of(report, item.variant)}}, item.variant) +
           shortened(item.what.substr(item.variant.size()), 4, 600);
  }
  Markup all =
      tag("span", {{"class", fmt::format("badge {}", style_of(item.kind))}}, to_string(item.kind)) +
      " " + what;
  Markup details;
  for (const std::string& one : item.details) details += tag("li", shortened(one, 4, 600));
  if (!details.empty()) all += tag("ul", details);
  if (!item.repeat.empty()) all += command_line(item.repeat);
  return tag("li", all);
}

Markup attention_section(const Report& report, const std::vector<Attention>& items) {
  if (items.empty()) return {};
  Markup list;
  for (std::size_t i = 0; i < std::min(items.size(), most_shown); ++i)
    list += item_of(report, items[i]);
  Markup all = tag("h2", "What needs attention") + tag("ol", {{"class", "attention"}}, list);
  if (items.size() > most_shown)
    all += tag("p",
               fmt::format("{} more stand with their variants below.", items.size() - most_shown));
  return tag("section", {{"id", "attention"}}, all);
}

// Claims that share a reason share a line.
Markup untested_section(const Report& report) {
  std::map<std::string, std::vector<std::string>> reasons;
  for (const VariantReport& variant : report.variants) {
    for (const MergedClaim& claim : variant.claims)
      if (claim.status == "exempt") add_once(reasons[claim.reason], claim.claim);
  }
  Markup items;
  for (const auto& [what, files] : report.not_tested) items += tag("li", what);
  for (const auto& [reason, claims] : reasons)
    items += tag("li", fmt::format("{}: {}", joined(claims), reason));
  const auto without = [&](const char* what, auto has) {
    std::vector<std::string> names;
    for (const VariantReport& variant : report.variants)
      if (!has(variant)) names.push_back(variant.about.name);
    if (!names.empty())
      items += tag("li", fmt::format("{}: {}", what,
                                     names.size() == report.variants.size() ? "of all variants"
                                                                            : some_of(names, 20)));
  };
  without("not in any result of `assay check`, which tells right from wrong",
          [](const VariantReport& v) { return !v.claims.empty(); });
  without("not in any result of `assay gate time` that measured",
          [](const VariantReport& v) { return !v.cells.empty(); });
  return items.empty() ? items
                       : tag("section", {{"id", "untested"}},
                             tag("h2", "What was not tested") + tag("ul", items));
}

Markup arithmetics_section(const Report& report) {
  Markup plots;
  for (const Spread& spread : report.arithmetics)
    if (!spread.points.empty())
      plots += svg_of(spread, fmt::format("{}, fill={}", spread.source, spread.fill));
  return plots.empty() ? plots
                       : tag("section", {{"id", "arithmetics"}},
                             tag("h2", "What the bound is to tell apart") +
                                 tag("div", {{"class", "plots"}}, plots));
}

Markup kernels_section(const Report& report) {
  std::vector<std::vector<Markup>> rows;
  for (const Kernel& one : report.kernels) {
    rows.push_back({tag("code", one.name), one.file, fmt::format("sm_{}", one.architecture),
                    grouped(one.registers), grouped(one.stack_bytes), grouped(one.shared_bytes),
                    grouped(one.barriers), tag("code", one.code.substr(0, 12))});
  }
  if (rows.empty()) return {};
  return tag(
      "section", {{"id", "kernels"}},
      tag("h2", "Compiled kernels") + table("Compiled kernels",
                                            {"kernel", "file", "for", "registers", "stack, bytes",
                                             "shared, bytes", "barriers", "code"},
                                            rows));
}

Markup defects_section(const Report& report) {
  std::vector<std::vector<Markup>> rows;
  for (const Defect& one : report.defects) {
    const bool killed = std::ranges::count(one.killed_by, one.must_be_killed_by) > 0;
    rows.push_back({one.name, one.backend, badge(killed ? "killed" : "survived"),
                    one.must_be_killed_by, tag("code", one.shrunk), shortened(one.says, 2, 300),
                    joined(one.killed_by)});
  }
  if (rows.empty()) return {};
  return tag("section", {{"id", "defects"}},
             tag("h2", "Planted faults") + table("Planted faults, and the claims that notice them",
                                                 {"fault", "on", "", "must be noticed by",
                                                  "shrunk case", "which says", "noticed by"},
                                                 rows));
}

Markup sources_section(const Report& report) {
  std::vector<std::vector<Markup>> rows;
  for (const Source& source : report.sources) {
    rows.push_back({tag("code", source.file), source.command, shortened(source.summary, 2, 300),
                    source.code(), source.date, source.card.empty() ? source.machine : source.card,
                    source.compilers, command_line(source.command_line)});
  }
  return tag(
      "section", {{"id", "results"}},
      tag("h2", "The results behind this page") +
          table("Results",
                {"file", "command", "end", "commit", "date", "on", "compilers", "repeat"}, rows));
}

// "commit 1234567 on NVIDIA H200, AMD EPYC": what the results have in common, or how many there
// are.
std::string origin_of(const Report& report) {
  std::vector<std::string> commits, places;
  for (const Source& source : report.sources) {
    if (source.command == "list" || source.command == "doctor") continue;
    add_once(commits, source.code());
    const std::string& place = source.card.empty() ? source.machine : source.card;
    if (!place.empty()) add_once(places, place);
  }
  return fmt::format("{} of {}{}{}",
                     counted(static_cast<std::int64_t>(report.sources.size()), "result"),
                     some_of(commits, 4), places.empty() ? "" : " on ", some_of(places, 4));
}

Markup contents_of(const std::vector<std::pair<const char*, const char*>>& parts,
                   const Markup& body) {
  Markup links;
  for (const auto& [id, name] : parts)
    if (body.markup().find(fmt::format("id=\"{}\"", id)) != std::string::npos)
      links += tag("a", {{"href", fmt::format("#{}", id)}}, name) + " ";
  return tag("nav", {{"aria-label", "Contents"}}, links);
}

}  // namespace

std::string anchor_of(const Report& report, const std::string& variant) {
  for (std::size_t i = 0; i < report.variants.size(); ++i)
    if (report.variants[i].about.name == variant) return fmt::format("#variant-{}", i + 1);
  return "#matrix";
}

Markup command_line(const std::string& command) {
  return command.empty() ? Markup() : tag("code", {{"class", "command"}}, command);
}

Markup table(const std::string& name, const std::vector<Markup>& headings,
             const std::vector<std::vector<Markup>>& rows) {
  Markup head, body;
  for (const Markup& heading : headings) head += tag("th", {{"scope", "col"}}, heading);
  for (const auto& row : rows) {
    Markup cells;
    for (const Markup& cell : row) cells += tag("td", cell);
    body += tag("tr", cells);
  }
  return tag("div",
             {{"class", "wide"}, {"tabindex", "0"}, {"role", "region"}, {"aria-label", name}},
             tag("table", tag("thead", tag("tr", head)) + tag("tbody", body)));
}

std::string html_of(const Report& report) {
  const Verdict verdict = verdict_of(report);
  Markup body = attention_section(report, verdict.attention) + matrix_section(report) +
                ladder_section(report) + speed_section(report) + roofline_section(report) +
                arithmetics_section(report);
  for (const VariantReport& variant : report.variants) body += variant_section(report, variant);
  body += kernels_section(report) + defects_section(report) + untested_section(report) +
          sources_section(report);
  const bool passed = verdict.word == "PASS";
  const Markup header =
      tag("header",
          {{"class", passed                   ? "good"
                     : verdict.word == "FAIL" ? "bad"
                                              : "unsure"}},
          tag("h1", tag("span", {{"class", "word"}}, verdict.word) + " " + verdict.sentence) +
              tag("p", origin_of(report)) +
              contents_of({{"attention", "Attention"},
                           {"matrix", "Matrix"},
                           {"ladder", "Ladder"},
                           {"speed", "Speed"},
                           {"roofline", "Roofline"},
                           {"arithmetics", "Arithmetics"},
                           {"variant-1", "Variants"},
                           {"kernels", "Kernels"},
                           {"defects", "Planted faults"},
                           {"untested", "Not tested"},
                           {"results", "Results"}},
                          body));
  const Markup head =
      tag("meta", Attributes{{"charset", "utf-8"}}) +
      tag("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}}) +
      tag("meta", {{"name", "color-scheme"}, {"content", "light dark"}}) +
      tag("link", {{"rel", "icon"}, {"href", "data:,"}}) +
      tag("title", fmt::format("assay: {}", verdict.word)) +
      tag("style", Markup::trusted(embedded::style));
  return "<!DOCTYPE html>\n" +
         tag("html", {{"lang", "en"}},
             tag("head", head) + tag("body", header + tag("main", body) +
                                                 tag("script", Markup::trusted(embedded::script))))
             .markup() +
         "\n";
}

}  // namespace assay::report
