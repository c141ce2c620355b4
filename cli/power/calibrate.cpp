// `assay calibrate`: shows how far the errors of right kernels and of wrong arithmetics lie from
// the bound that tells them apart.
#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "base/errors.h"
#include "base/text.h"
#include "base/whole_file.h"
#include "cli/command.h"
#include "cli/out/result.h"
#include "cli/out/table.h"
#include "cli/selection.h"
#include "properties/power/error_spread.h"
#include "properties/scopes.h"

namespace assay {
namespace {

struct CalibrateRequest {
  std::vector<std::string> variants, backends, fills;
  std::uint64_t seed = 0;
  std::string json;
  std::vector<std::string> arguments;
};

Fill fill_named(const std::string& name) {
  const Case c = parse_case(fmt::format("m=1 n=1 k=1 fill={}", name));
  if (const std::string why = why_no_bound(c); !why.empty())
    throw BadInput(fmt::format("--fill {}: {}", name, why));
  return c.fill;
}

std::vector<Fill> fills_of(const CalibrateRequest& request) {
  std::vector<Fill> fills;
  for (const std::string& name : request.fills) {
    const Fill fill = fill_named(name);
    if (std::find(fills.begin(), fills.end(), fill) == fills.end()) fills.push_back(fill);
  }
  return fills.empty() ? std::vector<Fill>{Fill::uniform} : fills;
}

std::string gulps_text(double gulps) {
  return gulps < 9.95 ? fmt::format("{:.1f}", gulps) : fmt::format("{:.3g}", gulps);
}

Table::Cell spread_cell(const ErrorSpread& spread) {
  if (spread.elements == 0) return {"-"};
  return {fmt::format("{} {:>5}", gulps_text(spread.median), gulps_text(spread.worst)),
          spread.is_inside() ? Colour::plain : Colour::red};
}

// The sources of one fill, a row each, and the bound below them.
std::string fill_text(Fill fill, const std::vector<SpreadOverK>& all, const Screen& screen) {
  Table table;
  table.add_column(fmt::format("fill={}", to_string(fill)), Side::left);
  table.add_column("on", Side::left);
  for (std::int64_t k : spread_sizes) table.add_column(fmt::format("k={}", k), Side::right, 3);
  for (const SpreadOverK& source : all) {
    if (source.fill != fill) continue;
    std::vector<Table::Cell> row = {{source.name}, {source.emulation ? "-" : source.backend}};
    for (const ErrorSpread& spread : source.spreads) row.push_back(spread_cell(spread));
    row.resize(2 + spread_sizes.size());
    table.add_row(std::move(row));
    if (!source.why_not.empty()) table.add_line(source.why_not);
  }
  std::vector<Table::Cell> bound = {{"the bound"}, {""}};
  for (std::int64_t k : spread_sizes)
    bound.push_back({gulps_text(allowed_gulps(Arithmetic::fp32, k))});
  table.add_row(std::move(bound));
  return table.text(screen);
}

std::string spreads_text(const std::vector<Fill>& fills, const std::vector<SpreadOverK>& all,
                         const Screen& screen) {
  std::string text = "errors in gulps, the median and the worst of some thousand elements:\n\n";
  for (Fill fill : fills) text += fill_text(fill, all, screen) + '\n';
  return text;
}

Conclusion conclude(const std::vector<SpreadOverK>& all) {
  const Separation s = separation_of(all);
  if (!s.outside.empty()) {
    return {ExitCode::wrong, "FAIL", fmt::format("outside the bound: {}", joined(s.outside)),
            fmt::format("assay check {}", s.outside.front())};
  }
  if (!(s.tf32_times > 1)) {
    return {ExitCode::wrong, "FAIL",
            "the bound does not see TF32 with every fill: there it separates nothing", ""};
  }
  const std::string bf16x9 = s.bf16x9_is_inside
                                 ? "BF16x9 lies inside it, as three BF16 hold all 24 bits"
                                 : "BF16x9 lies outside it";
  return {ExitCode::passed, "SEPARATED",
          fmt::format("variants take at most {:.0f} % of the bound, TF32 exceeds it at least "
                      "{:.3g} times, BF16x3 up to k={}; {}",
                      100 * s.nearest, s.tf32_times, s.bf16x3_up_to, bf16x9),
          ""};
}

JsonValue json_of(const ErrorSpread& s) {
  return {{"k", s.k},       {"elements", s.elements}, {"median", s.median},  {"p99", s.p99},
          {"p999", s.p999}, {"worst", s.worst},       {"allowed", s.allowed}};
}

JsonValue json_of(const SpreadOverK& source) {
  return {{"source", source.name},
          {"backend", source.emulation ? JsonValue() : JsonValue(source.backend)},
          {"fill", to_string(source.fill)},
          {"why_not", source.why_not.empty() ? JsonValue() : JsonValue(source.why_not)},
          {"gulps", json_list(source.spreads, [](const ErrorSpread& s) { return json_of(s); })}};
}

ExitCode run(const CalibrateRequest& request) {
  const auto fills = fills_of(request);
  const Selection selection = select(request.variants, request.backends, {}, false);
  const OutputFile json(request.json);
  const Screen screen = screen_beside({request.json});
  for (const std::string& left_out : selection.left_out)
    screen.print(fmt::format("- {}\n", left_out));
  std::vector<SpreadOverK> all;
  if (!selection.entries.empty()) {
    ProgressLine progress(true);
    all = error_spreads({.entries = selection.entries, .fills = fills, .seed = request.seed},
                        [&](double share) { progress.update("", share); });
    screen.print(spreads_text(fills, all, screen));
  }
  const Conclusion conclusion = all.empty() ? Conclusion{ExitCode::nothing_judged, "NOTHING JUDGED",
                                                         "no variant can run here", "assay doctor"}
                                            : conclude(all);
  screen.print(conclusion_text(conclusion, screen));
  if (json) {
    json.write(result_text(
        {"calibrate", request.arguments, conclusion},
        {{"seed", request.seed},
         {"results", json_list(all, [](const SpreadOverK& source) { return json_of(source); })}}));
  }
  return conclusion.code;
}

void add_flags(Flags& flags, CalibrateRequest& request) {
  flags.words("VARIANT", request.variants, "names from `assay list`; default: all");
  flags.texts("--backend", request.backends, "NAME",
              "simt, cuda or host; repeat for more; default: all");
  flags.texts("--fill", request.fills, "NAME",
              "a fill that the bound is for; repeat for more; default: uniform");
  flags.number("--seed", request.seed, "seed of the elements (0)");
  flags.result("--json", request.json, "write all quantiles as JSON; - is stdout");
  flags.keep_all(request.arguments);
  flags.footer(
      "Beside the variants stand TF32, BF16x3 and BF16x9, computed on the host.\n"
      "\n"
      "Examples:\n"
      "  assay calibrate warptiled\n"
      "  assay calibrate --backend cuda cublas warptiled --json errors.json\n"
      "\n"
      "Exit status: 0 the bound lies between right and wrong, 1 it does not,\n"
      "             2 bad usage or bad input, 77 no variant can run here\n");
}

}  // namespace

Command calibrate_command() {
  return command("calibrate", "shows how far the errors of right and wrong lie from the bound",
                 add_flags, run);
}

}  // namespace assay
