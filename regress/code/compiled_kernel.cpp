#include "regress/code/compiled_kernel.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <set>
#include <tuple>

#include "base/errors.h"
#include "base/sha256.h"
#include "base/suggestion.h"
#include "base/text.h"

namespace assay {
namespace {

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

}  // namespace

std::vector<CompiledKernel> kernels_in(const std::vector<std::string>& files) {
  std::vector<CompiledKernel> kernels;
  std::set<std::tuple<int, std::string, std::string>> known;
  for (const std::string& file : files) {
    for (const std::string& bytes : cubins_in(file)) {
      const Cubin cubin = read_cubin(bytes);
      for (const KernelCode& code : cubin.kernels) {
        if (known.emplace(cubin.architecture, code.symbol, code.code).second)
          kernels.push_back({cubin.architecture, code});
      }
    }
  }
  return kernels;
}

std::vector<CompiledKernel> kernels_named(const std::vector<CompiledKernel>& kernels,
                                          const std::vector<std::string>& names) {
  if (names.empty()) return kernels;
  std::set<std::string> known;
  std::vector<CompiledKernel> chosen;
  for (const CompiledKernel& kernel : kernels) {
    const auto own = names_of_kernel(kernel.code.symbol);
    known.insert(own.begin(), own.end());
    if (std::ranges::find_first_of(own, names) != own.end()) chosen.push_back(kernel);
  }
  for (const std::string& name : names) {
    if (known.contains(name)) continue;
    const std::vector<std::string> all(known.begin(), known.end());
    throw BadInput(fmt::format("there is no kernel '{}'{}; there are {}", name,
                               suggestion(name, all), joined(all)));
  }
  return chosen;
}

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

ProgramCode::ProgramCode(int architecture, const std::vector<std::string>& libraries) {
  if (libraries.empty()) add("/proc/self/exe", architecture);
  for (const std::string& library : libraries) add(library, architecture);
}

void ProgramCode::add(const std::string& file, int architecture) {
  for (const std::string& bytes : cubins_in(file)) {
    const Cubin cubin = read_cubin(bytes);
    if (cubin.architecture != architecture) continue;
    const std::string hash = sha256(bytes);
    cubins_.emplace(hash, bytes);
    for (const KernelCode& code : cubin.kernels) {
      const Kernel& known = kernels_.try_emplace(code.symbol, Kernel{hash, code}).first->second;
      if (known.code.code != code.code)
        throw BadInput(fmt::format("two files each have a kernel {}: measure them one at a time",
                                   kernel_name(code.symbol)));
    }
  }
}

const ProgramCode::Kernel* ProgramCode::find(const std::string& symbol) const {
  const auto found = kernels_.find(symbol);
  return found == kernels_.end() ? nullptr : &found->second;
}

}  // namespace assay
