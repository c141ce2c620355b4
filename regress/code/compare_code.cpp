#include "regress/code/compare_code.h"

#include <fmt/format.h>

#include <set>
#include <string_view>

#include "base/errors.h"
#include "base/text.h"

namespace assay {
namespace {

constexpr std::size_t digits_shown = 12;  // of a hash

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
  const auto accepted = accepted_kernel(baseline, cubin, node.kernel);
  std::string counts = accepted ? difference(*accepted, *namesake) : "other machine code";
  if (counts.empty()) counts = "the same counts, but other instructions";
  return fmt::format("{}: {} -> {}: {}", name, node.code.substr(0, digits_shown),
                     namesake->code.substr(0, digits_shown), counts);
}

const std::string& commit_of(const CellRecord& cell, const VariantBaseline& accepted) {
  return cell.commit.empty() ? accepted.provenance.commit : cell.commit;
}

// The cells that are of one commit.
CodeComparison compare(const Baseline& baseline, const std::string& variant,
                       const VariantBaseline& accepted, const std::string& commit, bool anchor,
                       const std::vector<CompiledKernel>& kernels) {
  CodeComparison comparison = {
      .gpu = baseline.gpu, .variant = variant, .commit = commit, .anchor = anchor};
  std::vector<std::string> seen;
  for (const CellRecord& cell : accepted.cells) {
    if (commit_of(cell, accepted) != commit) continue;
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

}  // namespace

std::string difference(const KernelCode& before, const KernelCode& now) {
  std::vector<std::string> parts;
  const auto compare = [&](std::string_view what, int old, int fresh) {
    if (old != fresh) parts.push_back(fmt::format("{} {} -> {}", what, old, fresh));
  };
  compare("registers", before.registers, now.registers);
  compare("stack", before.stack_bytes, now.stack_bytes);
  compare("shared", before.shared_bytes, now.shared_bytes);
  compare("barriers", before.barriers, now.barriers);
  auto counts = before.instructions;
  for (const auto& [kind, count] : now.instructions) counts.emplace(kind, 0);
  for (const auto& [kind, count] : counts) {
    const auto found = now.instructions.find(kind);
    compare(kind, count, found == now.instructions.end() ? 0 : found->second);
  }
  return joined(parts);
}

std::optional<KernelCode> accepted_kernel(const Baseline& baseline, const std::string& cubin,
                                          const std::string& symbol) {
  const auto bytes = baseline.cubins.find(cubin);
  if (bytes == baseline.cubins.end()) return std::nullopt;
  const Cubin accepted = read_cubin(bytes->second);
  for (const KernelCode& code : accepted.kernels) {
    if (code.symbol == symbol) return code;
  }
  return std::nullopt;
}

std::vector<CodeComparison> compare_code(const Baseline& baseline, const std::string& commit,
                                         const std::vector<CompiledKernel>& kernels) {
  std::vector<CodeComparison> comparisons;
  for (const auto* all : {&baseline.accepted, &baseline.anchor}) {
    for (const auto& [variant, accepted] : *all) {
      std::set<std::string> commits = {accepted.provenance.commit};
      for (const CellRecord& cell : accepted.cells) commits.insert(commit_of(cell, accepted));
      for (const std::string& one : commits) {
        if (!commit.empty() && one != commit) continue;
        comparisons.push_back(
            compare(baseline, variant, accepted, one, all == &baseline.anchor, kernels));
      }
    }
  }
  return comparisons;
}

std::vector<CodeComparison> compare_launches(const Baseline& baseline, const std::string& commit,
                                             const Baseline& rebuilt) {
  std::vector<CodeComparison> comparisons;
  for (const auto* all : {&baseline.accepted, &baseline.anchor}) {
    for (const auto& [variant, accepted] : *all) {
      CodeComparison one = {.gpu = baseline.gpu,
                            .variant = variant,
                            .commit = commit,
                            .anchor = all == &baseline.anchor};
      for (const CellRecord& cell : accepted.cells) {
        if (commit_of(cell, accepted) != commit) continue;
        ++one.kernels;
        const CellRecord* now = record_of(rebuilt.accepted, {variant, cell.problem});
        const std::string how =
            now ? difference(cell.recipe, now->recipe) : "the commit launches nothing for it";
        if (!how.empty())
          one.differences.push_back(fmt::format("{}: {}", to_string(cell.problem), how));
      }
      if (one.kernels > 0) comparisons.push_back(std::move(one));
    }
  }
  return comparisons;
}

std::vector<CodeComparison> compare_launches_of_all(const std::filesystem::path& baselines,
                                                    const std::string& commit,
                                                    const std::filesystem::path& rebuilt) {
  std::vector<CodeComparison> all;
  for (const std::string& gpu : stored_gpus(rebuilt)) {
    const auto more =
        compare_launches(read_baseline(baselines, gpu), commit, read_baseline(rebuilt, gpu));
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

std::vector<CodeComparison> compare_code_with_all(const std::filesystem::path& baselines,
                                                  const std::string& commit,
                                                  const std::vector<CompiledKernel>& kernels) {
  const std::vector<std::string> gpus = stored_gpus(baselines);
  if (gpus.empty()) throw NoBaseline(fmt::format("{} has no baseline", baselines.string()));
  std::vector<CodeComparison> all;
  for (const std::string& gpu : gpus) {
    const auto more = compare_code(read_baseline(baselines, gpu), commit, kernels);
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

}  // namespace assay
