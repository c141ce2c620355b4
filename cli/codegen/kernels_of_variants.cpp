#include "cli/codegen/kernels_of_variants.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "oracle/counting.h"

namespace assay {
namespace {

// A launch may choose its kernels by the problem. The last is for those that take nothing smaller.
constexpr const char* problems[] = {"m=128 n=128 k=128", "m=65 n=63 k=33",  "m=8 n=128 k=128",
                                    "m=128 n=8 k=128",   "m=64 n=64 k=512", "m=256 n=256 k=256"};

std::vector<std::string> kernels_of(const Entry& entry) {
  std::vector<std::string> names;
  for (const char* problem : problems) {
    if (problem == std::end(problems)[-1] && !names.empty()) break;
    for (const ptx::LaunchCounts& launch : count(entry, parse_case(problem)).launches)
      add_once(names, kernel_name(launch.kernel));
  }
  return names;
}

std::vector<Entry> entries_for_ptx(const std::vector<std::string>& names) {
  std::vector<Entry> entries;
  for (const Entry& entry : registered()) {
    if (entry.backend == Backend::ptx && std::ranges::count(names, entry.variant.name) > 0)
      entries.push_back(entry);
  }
  return entries;
}

// Moves the kernels of those that are variants to `names`.
void replace_variants(std::vector<std::string>& names, std::vector<std::string>& others,
                      std::vector<std::string> words, const KernelFiles& files) {
  Opened opened;
  try {
    opened = files.open(words, {"ptx"});
  } catch (const BadInput&) {
    return;  // a file without a variant has kernels all the same
  }
  for (const Entry& entry : entries_for_ptx(others)) {
    const auto own = kernels_of(entry);
    if (own.empty()) continue;
    std::erase(others, entry.variant.name);
    for (const std::string& name : own) add_once(names, name);
  }
}

}  // namespace

std::vector<std::string> names_of_kernels(const std::vector<std::string>& words,
                                          const std::vector<CompiledKernel>& kernels,
                                          const KernelFiles& files) {
  std::set<std::string> known;
  for (const CompiledKernel& kernel : kernels) {
    for (const std::string& name : names_of_kernel(kernel.code.symbol)) known.insert(name);
  }
  std::vector<std::string> names, others;
  for (const std::string& word : words) {
    if (!names_a_file(word)) (known.contains(word) ? names : others).push_back(word);
  }
  if (!others.empty()) replace_variants(names, others, words, files);
  names.insert(names.end(), others.begin(), others.end());
  return names;
}

}  // namespace assay
