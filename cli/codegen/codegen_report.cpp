#include "cli/codegen/codegen_report.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <memory>

#include "base/printable.h"
#include "base/text.h"

namespace assay {
namespace {

constexpr std::size_t digits_shown = 12;  // of a hash

void drop_all(std::string& text, std::string_view part) {
  for (std::size_t at; (at = text.find(part)) != text.npos;) text.erase(at, part.size());
}

// Without the parameters, which all kernels have in common.
void drop_parameters(std::string& name) {
  if (!name.ends_with(')')) return;
  int depth = 0;
  for (std::size_t i = name.size(); i-- > 0;) {
    depth += name[i] == ')' ? 1 : name[i] == '(' ? -1 : 0;
    if (depth == 0) {
      name.erase(i);
      return;
    }
  }
}

// With an underscore for all that no name of a variant has: "tiled<32>" is tiled_32.
std::string plain(const std::string& name) {
  std::string text;
  for (char c : name) {
    const bool kept = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    if (kept) {
      text += c;
    } else if (!text.empty() && text.back() != '_') {
      text += '_';
    }
  }
  while (text.ends_with('_')) text.pop_back();
  return text;
}

std::string instructions_text(const KernelCode& code) {
  std::vector<std::string> counts;
  for (const auto& [kind, count] : code.instructions)
    counts.push_back(fmt::format("{} {}", kind, count));
  return counts.empty() ? "instructions: the encoding is not known" : joined(counts);
}

void tell(std::vector<std::string>& parts, std::string_view what, int before, int now) {
  if (before != now) parts.push_back(fmt::format("{} {} -> {}", what, before, now));
}

std::string difference(const KernelCode& before, const KernelCode& now) {
  std::vector<std::string> parts;
  tell(parts, "registers", before.registers, now.registers);
  tell(parts, "stack", before.stack_bytes, now.stack_bytes);
  tell(parts, "shared", before.shared_bytes, now.shared_bytes);
  tell(parts, "barriers", before.barriers, now.barriers);
  auto counts = before.instructions;
  for (const auto& [kind, count] : now.instructions) counts.emplace(kind, 0);
  for (const auto& [kind, count] : counts) {
    const auto found = now.instructions.find(kind);
    tell(parts, kind, count, found == now.instructions.end() ? 0 : found->second);
  }
  return parts.empty() ? "the same counts, but other instructions" : joined(parts);
}

const KernelCode* accepted_code(const Baseline& baseline, const std::string& cubin,
                                const std::string& symbol, Cubin& place) {
  const auto bytes = baseline.cubins.find(cubin);
  if (bytes == baseline.cubins.end()) return nullptr;
  place = read_cubin(bytes->second);
  const auto code = std::find_if(place.kernels.begin(), place.kernels.end(),
                                 [&](const KernelCode& k) { return k.symbol == symbol; });
  return code == place.kernels.end() ? nullptr : &*code;
}

// Why this kernel is not among those at hand; empty if it is.
std::string missing(const Baseline& baseline, const std::string& cubin, const KernelNode& node,
                    const std::vector<CompiledKernel>& kernels) {
  const std::string name = kernel_name(node.kernel);
  const KernelCode* namesake = nullptr;
  bool any_of_architecture = false;
  for (const CompiledKernel& kernel : kernels) {
    if (kernel.architecture != baseline.architecture) continue;
    any_of_architecture = true;
    if (kernel.code.code == node.code) return "";
    if (kernel_name(kernel.code.symbol) == name) namesake = &kernel.code;
  }
  if (!any_of_architecture)
    return fmt::format("{}: there is no machine code for sm_{}", name, baseline.architecture);
  if (namesake == nullptr) return fmt::format("{}: there is no such kernel", name);
  Cubin place;
  const KernelCode* before = accepted_code(baseline, cubin, node.kernel, place);
  return fmt::format("{}: {} -> {}: {}", name, node.code.substr(0, digits_shown),
                     namesake->code.substr(0, digits_shown),
                     before == nullptr ? "other machine code" : difference(*before, *namesake));
}

void add_once(std::vector<std::string>& all, const std::string& one) {
  if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(one);
}

Comparison compare(const Baseline& baseline, const std::string& variant,
                   const VariantBaseline& accepted, bool anchor,
                   const std::vector<CompiledKernel>& kernels) {
  Comparison comparison{.gpu = baseline.gpu,
                        .variant = variant,
                        .commit = accepted.provenance.commit,
                        .anchor = anchor};
  std::vector<std::string> seen;
  for (const CellRecord& cell : accepted.cells) {
    for (const Node& node : cell.recipe.nodes) {
      const auto* kernel = std::get_if<KernelNode>(&node);
      if (kernel == nullptr) continue;
      add_once(seen, kernel->code);
      if (const auto why = missing(baseline, cell.cubin, *kernel, kernels); !why.empty())
        add_once(comparison.differences, why);
    }
  }
  comparison.kernels = static_cast<int>(seen.size());
  return comparison;
}

std::string comparison_text(const Comparison& c, const Screen& screen) {
  const std::string what = fmt::format("{} on {}{}, of {}", c.variant, c.gpu,
                                       c.anchor ? ", the anchor" : "", c.commit.substr(0, 12));
  if (c.kernels == 0) return fmt::format("{}: no machine code was accepted\n", what);
  if (c.differences.empty()) return fmt::format("{}: the same machine code\n", what);
  std::string text = fmt::format("{}: {}\n", what, screen.paint("differs", Colour::red));
  for (const std::string& difference : c.differences)
    text += fmt::format("  {}\n", printable(difference));
  return text;
}

std::string kernels_text(const std::vector<CompiledKernel>& kernels, const Screen& screen) {
  Table table;
  table.add_column("kernel", Side::left);
  for (const char* heading : {"sm", "registers", "stack", "shared", "barriers"})
    table.add_column(heading, Side::right);
  table.add_column("code", Side::left);
  for (const auto& [architecture, code] : kernels) {
    table.add_row(
        {{kernel_name(code.symbol)},
         {fmt::to_string(architecture)},
         {fmt::to_string(code.registers)},
         {fmt::to_string(code.stack_bytes), code.stack_bytes > 0 ? Colour::yellow : Colour::plain},
         {fmt::to_string(code.shared_bytes)},
         {fmt::to_string(code.barriers)},
         {code.code.substr(0, digits_shown)}});
    table.add_line(instructions_text(code));
  }
  return table.text(screen);
}

}  // namespace

std::string kernel_name(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
  if (status != 0 || text == nullptr) return symbol;
  std::string name = text.get();
  drop_parameters(name);
  if (name.starts_with("void ")) name.erase(0, 5);
  drop_all(name, "(anonymous namespace)::");
  drop_all(name, "assay::");
  return name;
}

std::string kernel_file(const std::string& symbol) {
  // _GLOBAL__N__HASH_LENGTH_FILE_..., where FILE has LENGTH letters, as in tiled_cu
  const std::string_view opening = "_GLOBAL__N__", all = symbol;
  std::size_t at = all.find(opening);
  if (at == all.npos) return "";
  at = all.find('_', at + opening.size());
  if (at == all.npos) return "";
  std::size_t length = 0;
  const auto [end, error] = std::from_chars(all.data() + at + 1, all.data() + all.size(), length);
  const auto begin = static_cast<std::size_t>(end - all.data()) + 1;
  if (error != std::errc() || begin >= all.size() || length > all.size() - begin) return "";
  const std::string_view file = all.substr(begin, length);
  return file.ends_with("_cu") ? std::string(file.substr(0, file.size() - 3)) : "";
}

std::vector<std::string> names_of_kernel(const std::string& symbol) {
  std::vector<std::string> names;
  const std::string name = kernel_name(symbol);
  for (const std::string& one : {name, plain(name), kernel_file(symbol)}) {
    if (!one.empty()) add_once(names, one);
  }
  return names;
}

std::vector<Comparison> compare(const Baseline& baseline, const std::string& commit,
                                const std::vector<CompiledKernel>& kernels) {
  std::vector<Comparison> comparisons;
  for (const auto* all : {&baseline.accepted, &baseline.anchor}) {
    for (const auto& [variant, accepted] : *all) {
      if (!commit.empty() && accepted.provenance.commit != commit) continue;
      comparisons.push_back(compare(baseline, variant, accepted, all == &baseline.anchor, kernels));
    }
  }
  return comparisons;
}

Conclusion conclude(const CodegenResult& result) {
  if (!result.why_not.empty())
    return {ExitCode::nothing_judged, "NOTHING TO SHOW", result.why_not, ""};
  if (!result.request.compare)
    return {ExitCode::passed, "SHOWN",
            plural(static_cast<std::int64_t>(result.kernels.size()), "kernel"), ""};
  int same = 0;
  std::vector<std::string> different;
  for (const Comparison& c : result.comparisons) {
    if (!c.differences.empty()) {
      add_once(different, c.variant);
    } else {
      same += c.kernels > 0;
    }
  }
  if (!different.empty()) {
    return {ExitCode::wrong, "DIFFERENT",
            fmt::format("the machine code of {} is not what was accepted", joined(different)), ""};
  }
  if (same == 0) {
    return {ExitCode::nothing_judged, "NOTHING COMPARED",
            result.request.commit.empty()
                ? "no machine code was accepted"
                : fmt::format("no machine code of {} was accepted", result.request.commit),
            ""};
  }
  return {ExitCode::passed, "THE SAME",
          fmt::format("{} {} machine code that was accepted", plural(same, "record"),
                      same == 1 ? "has the" : "have the"),
          ""};
}

std::string codegen_text(const CodegenResult& result, const Conclusion& conclusion,
                         const Screen& screen) {
  if (!result.why_not.empty()) return conclusion_text(conclusion, screen);
  if (!result.request.compare) return kernels_text(result.kernels, screen);
  std::string text;
  for (const Comparison& c : result.comparisons) text += comparison_text(c, screen);
  return text + conclusion_text(conclusion, screen);
}

}  // namespace assay
