#include "regress/store/baseline_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "base/errors.h"
#include "base/strict_json.h"
#include "regress/store/recipe_json.h"

namespace assay {
namespace {

constexpr int schema = 1;

void check_schema(const Field& file) {
  if (!file.has("schema")) file.refuse("the field 'schema' is missing");
  const std::int64_t found = file["schema"].whole(0, std::numeric_limits<int>::max());
  if (found != schema) {
    file["schema"].refuse(
        fmt::format("this version of assay reads {}, not {}: accept again", schema, found));
  }
}

// Calls visit(name, member) for every text of a provenance.
template <class AnyProvenance, class Visit>
void for_each_text(AnyProvenance& p, Visit&& visit) {
  visit("commit", p.commit);
  visit("date", p.date);
  visit("harness", p.harness);
  visit("compiler", p.compiler);
  visit("flags", p.flags);
  visit("gpu", p.gpu);
  visit("driver", p.driver);
  visit("runtime", p.runtime);
  visit("reason", p.reason);
}

Json json_of(const Provenance& provenance) {
  Json json;
  for_each_text(provenance, [&](const char* name, const std::string& text) { json[name] = text; });
  if (!provenance.kernels.empty()) json["kernels"] = provenance.kernels;
  return json;
}

Provenance provenance_of(const Field& field) {
  Provenance provenance;
  std::vector<std::string> names;
  for_each_text(provenance, [&](const char* name, auto&) { names.emplace_back(name); });
  if (field.has("kernels")) {
    names.emplace_back("kernels");
    provenance.kernels = field["kernels"].text();
  }
  field.has_exactly(names);
  for_each_text(provenance,
                [&](const char* name, std::string& text) { text = field[name].text(); });
  if (provenance.reason.find_first_not_of(" \t\r\n") == std::string::npos) {
    field["reason"].refuse(provenance.reason.empty() ? "expected words, not ''"
                                                     : "expected words, not blanks");
  }
  return provenance;
}

Json json_of(const Ratio& ratio) {
  if (ratio.processes == 0) return nullptr;
  return {{"ratio", ratio.value},
          {"low", ratio.low},
          {"high", ratio.high},
          {"processes", ratio.processes}};
}

Ratio ratio_of(const Field& field) {
  Ratio ratio;
  if (field.is_null()) return ratio;
  field.has_exactly({"ratio", "low", "high", "processes"});
  ratio.value = field["ratio"].positive();
  ratio.low = field["low"].positive();
  ratio.high = field["high"].positive();
  ratio.processes = static_cast<int>(field["processes"].whole(1, 1'000'000));
  if (!(ratio.low <= ratio.value && ratio.value <= ratio.high)) {
    field.refuse("expected low <= ratio <= high");
  }
  return ratio;
}

Json json_of(const CellRecord& cell) {
  Json json = {{"problem", to_string(cell.problem)},
               {"time_us", cell.time_us},
               {"tflops", cell.tflops},
               {"to_baseline", json_of(cell.to_baseline)},
               {"to_anchor", json_of(cell.to_anchor)},
               {"to_cublas", json_of(cell.to_cublas)},
               {"process_spread", cell.process_spread},
               {"detectable", cell.detectable},
               {"clock_mhz", cell.clock_mhz},
               {"throttled", cell.throttled},
               {"cubin", cell.cubin},
               {"recipe", json_of(cell.recipe)}};
  if (!cell.commit.empty()) json["commit"] = cell.commit;
  if (!cell.reason.empty()) json["reason"] = cell.reason;
  if (cell.launch_to_empty.processes > 0) json["launch_to_empty"] = json_of(cell.launch_to_empty);
  return json;
}

Case problem_of(const Field& field) {
  const std::string text = field.text();
  Case problem;
  try {
    problem = parse_case(text);
  } catch (const BadInput& e) {
    field.refuse(e.what());
  }
  const std::string usual = to_string(problem);
  if (usual != text) field.refuse(fmt::format("'{}' should be written '{}'", text, usual));
  return problem;
}

std::int64_t bytes_of(const CellRecord& cell, Operand operand) {
  return operand == Operand::workspace ? cell.recipe.workspace_bytes
                                       : bytes_of_operand(cell.problem, operand);
}

void check_place(const Field& field, const CellRecord& cell, Operand operand,
                 std::int64_t displacement) {
  const std::int64_t bytes = bytes_of(cell, operand);
  if (displacement == 0 || (displacement > 0 && displacement < bytes)) return;
  field.refuse(fmt::format("'{}' lies outside of the {} bytes of {}",
                           to_string(operand, displacement), bytes, to_string(operand)));
}

// Refuses a recipe that points at, or writes to, anything outside the operands of its problem.
void check_places(const Field& nodes, const CellRecord& cell) {
  const auto fields = nodes.items();
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (const auto* kernel = std::get_if<KernelNode>(&cell.recipe.nodes[i])) {
      for (const Pointer& p : kernel->pointers)
        check_place(fields[i]["arguments"], cell, p.operand, p.displacement);
      continue;
    }
    const auto& set = std::get<MemsetNode>(cell.recipe.nodes[i]);
    check_place(fields[i]["memset"], cell, set.operand, set.displacement);
    const std::int64_t bytes = bytes_of(cell, set.operand);
    const double gaps =
        set.height < 2 ? 0 : static_cast<double>(set.height - 1) * static_cast<double>(set.pitch);
    const double end = static_cast<double>(set.displacement) + gaps +
                       static_cast<double>(set.width) * set.element_bytes;
    if (set.height > 0 && set.width > 0 && !(end <= static_cast<double>(bytes))) {
      fields[i]["memset"].refuse(
          fmt::format("it sets more than the {} bytes of {}", bytes, to_string(set.operand)));
    }
  }
}

CellRecord cell_of(const Field& field) {
  std::vector<std::string> names = {"problem",   "time_us",   "tflops",         "to_baseline",
                                    "to_anchor", "to_cublas", "process_spread", "detectable",
                                    "clock_mhz", "throttled", "cubin",          "recipe"};
  // What is last in the list says nothing any longer: records of before 23 November 2026 have it.
  for (const char* optional : {"commit", "reason", "launch_to_empty", "launch_to_replay"}) {
    if (field.has(optional)) names.emplace_back(optional);
  }
  field.has_exactly(names);
  CellRecord cell;
  if (field.has("commit")) cell.commit = field["commit"].text();
  if (field.has("reason")) cell.reason = field["reason"].text();
  if (field.has("launch_to_empty")) {
    if (field["launch_to_empty"].is_null()) field["launch_to_empty"].refuse("expected a ratio");
    cell.launch_to_empty = ratio_of(field["launch_to_empty"]);
  }
  cell.problem = problem_of(field["problem"]);
  cell.time_us = field["time_us"].not_negative();
  cell.tflops = field["tflops"].not_negative();
  cell.to_baseline = ratio_of(field["to_baseline"]);
  cell.to_anchor = ratio_of(field["to_anchor"]);
  cell.to_cublas = ratio_of(field["to_cublas"]);
  cell.process_spread = field["process_spread"].not_negative();
  cell.detectable = field["detectable"].not_negative();
  cell.clock_mhz = field["clock_mhz"].not_negative();
  cell.throttled = field["throttled"].bits();
  cell.cubin = field["cubin"].text();
  cell.recipe = recipe_of(field["recipe"].json(), field["recipe"].where());
  check_places(field["recipe"]["nodes"], cell);
  return cell;
}

}  // namespace

std::int64_t bytes_of_operand(const Case& c, Operand operand) {
  // In floating point, for a problem may have more elements than an integer can count.
  const auto bytes = [](std::int64_t rows, std::int64_t columns, std::int64_t gap) {
    if (rows == 0 || columns == 0) return std::int64_t{0};
    const double row = static_cast<double>(columns) + static_cast<double>(gap);
    const double floats = static_cast<double>(rows - 1) * row + static_cast<double>(columns);
    return static_cast<std::int64_t>(std::min(floats * sizeof(float), 0x1p62));
  };
  switch (operand) {
    case Operand::a: return bytes(c.m, c.k, c.lda.floats);
    case Operand::b: return bytes(c.k, c.n, c.ldb.floats);
    case Operand::c:
    case Operand::workspace: break;
  }
  return bytes(c.m, c.n, c.ldc.floats);
}

std::string device_text(const Baseline& baseline) {
  Json json = {{"schema", schema},
               {"gpu", baseline.gpu},
               {"architecture", baseline.architecture},
               {"device", Json::object()},
               {"canaries", Json::object()}};
  for (const auto& [name, value] : baseline.device) json["device"][name] = value;
  for (const auto& [name, value] : baseline.canaries) json["canaries"][name] = value;
  return text_of(json);
}

void read_device(const std::string& text, const std::string& file, Baseline& baseline) {
  const Json json = parse_json(text, file);
  const Field field(json, file + ":");
  check_schema(field);
  field.has_exactly({"schema", "gpu", "architecture", "device", "canaries"});
  if (field["gpu"].text() != baseline.gpu) {
    field["gpu"].refuse(
        fmt::format("'{}' does not lie in a folder of its name", field["gpu"].text()));
  }
  baseline.architecture = static_cast<int>(field["architecture"].whole(20, 255));
  for (const auto& [name, value] : field["device"].entries()) {
    baseline.device[name] = value.text();
  }
  for (const auto& [name, value] : field["canaries"].entries()) {
    baseline.canaries[name] = value.positive();
  }
}

std::string variant_text(const std::string& variant, const VariantBaseline& accepted) {
  Json json = {{"schema", schema},
               {"variant", variant},
               {"provenance", json_of(accepted.provenance)},
               {"cells", Json::array()}};
  for (const CellRecord& cell : accepted.cells) json["cells"].push_back(json_of(cell));
  if (!accepted.not_watched.empty()) json["not_watched"] = accepted.not_watched;
  return text_of(json);
}

VariantBaseline read_variant(const std::string& text, const std::string& file,
                             const std::string& variant) {
  const Json json = parse_json(text, file);
  const Field field(json, file + ":");
  check_schema(field);
  std::vector<std::string> names = {"schema", "variant", "provenance", "cells"};
  if (field.has("not_watched")) names.push_back("not_watched");  // where every problem is watched
  field.has_exactly(names);
  if (field["variant"].text() != variant) {
    field["variant"].refuse(
        fmt::format("'{}' does not lie in a file of its name", field["variant"].text()));
  }
  VariantBaseline accepted;
  accepted.provenance = provenance_of(field["provenance"]);
  std::set<std::string> problems;
  for (const Field& item : field["cells"].items()) {
    accepted.cells.push_back(cell_of(item));
    const std::string problem = to_string(accepted.cells.back().problem);
    if (!problems.insert(problem).second)
      item["problem"].refuse(fmt::format("'{}' stands twice", problem));
  }
  if (field.has("not_watched")) {
    for (const auto& [problem, why] : field["not_watched"].entries()) {
      if (problems.contains(problem)) why.refuse("it has a record");
      accepted.not_watched[problem] = why.text();
    }
  }
  return accepted;
}

}  // namespace assay
