#include "regress/code/variables.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

#include "base/elf.h"

namespace assay {

std::string variable_name(const std::string& symbol) {
  const std::unique_ptr<char, decltype(&std::free)> readable(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, nullptr), &std::free);
  const std::string name = readable ? readable.get() : symbol;
  const std::size_t last = name.rfind("::");
  return last == name.npos ? name : name.substr(last + 2);
}

std::vector<Variable> variables_in(std::string_view cubin) {
  constexpr unsigned symbol_is_object = 1;
  const Elf elf = read_elf(cubin);
  std::vector<Variable> variables;
  for (const Symbol& symbol : elf.symbols) {
    if (symbol.type != symbol_is_object || symbol.size == 0) continue;
    if (symbol.section == 0 || symbol.section >= elf.sections.size()) continue;
    const Section& section = elf.sections[symbol.section];
    const bool is_zero = section.name == ".nv.global";  // which has only a size
    if (!is_zero && section.name != ".nv.global.init" && section.name != ".nv.constant3") continue;
    variables.push_back(
        {std::string(symbol.name),
         is_zero ? std::string(symbol.size, '\0')
                 : std::string(part(section.bytes, symbol.value, symbol.size, "a variable"))});
  }
  return variables;
}

}  // namespace assay
