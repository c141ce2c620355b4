#include <cstring>
#include <utility>

#include "ptx/decode/code.h"
#include "ptx/decode/decode.h"
#include "ptx/reader/reader.h"

namespace ptx {
namespace {

// Of a function there is no code to point to: its address is none that memory may have.
std::uint64_t address_of_function(const Module& module, const std::string& name) {
  for (std::size_t n = 0; n < module.functions.size(); ++n)
    if (module.functions[n].name == name) return 16 * (n + 1);
  return 0;
}

// Variables first, then what they hold: an initial value may name another variable.
void make_variables(Program::Contents& contents) {
  for (const Variable& v : contents.module.variables) {
    if ((v.space != Space::global && v.space != Space::constant) || v.is_extern) continue;
    void* memory =
        contents.memory->allocate(v.bytes + 1, own_name(v.name), /*poisoned=*/true, v.is_managed);
    std::byte* const bytes = contents.memory->bytes_at(memory);
    std::memset(bytes, 0, v.bytes + 1);
    std::memcpy(bytes, v.initial.data(), std::min<std::size_t>(v.initial.size(), v.bytes));
    contents.memory->mark_written(reinterpret_cast<std::uint64_t>(memory), v.bytes);
    if (v.space == Space::constant)
      contents.memory->mark_constant(reinterpret_cast<std::uint64_t>(memory));
    contents.symbols[v.name] = {memory, v.bytes};
  }
  for (const Variable& v : contents.module.variables) {
    for (const Variable::Relocation& r : v.relocations) {
      const auto target = contents.symbols.find(r.symbol);
      if (contents.symbols.count(v.name) == 0) continue;
      const std::uint64_t address = target == contents.symbols.end()
                                        ? address_of_function(contents.module, r.symbol)
                                        : reinterpret_cast<std::uint64_t>(target->second.address) +
                                              static_cast<std::uint64_t>(r.add);
      std::memcpy(contents.memory->bytes_at(contents.symbols[v.name].address) + r.at, &address,
                  sizeof address);
    }
  }
}

}  // namespace

Program::Program(Module module, Memory& memory) : contents_(std::make_unique<Contents>()) {
  contents_->module = std::move(module);
  contents_->memory = &memory;
  make_variables(*contents_);
}
Program::~Program() {
  for (const auto& [_, symbol] : contents_->symbols) contents_->memory->release(symbol.address);
}

// Decoded when it is first asked for.
const Program::Kernel* Program::kernel(std::string_view name) const {
  auto& kernel = contents_->kernels[std::string(name)];
  if (kernel != nullptr) return kernel.get();
  for (Function& f : contents_->module.functions) {
    if (!f.is_kernel || f.name != name) continue;
    if (f.is_unread) read_body_of(f, contents_->module);
    kernel = decode(contents_->module, f, [this](const std::string& symbol) {
      const void* const address = this->symbol(symbol).address;
      return address != nullptr ? reinterpret_cast<std::uint64_t>(address)
                                : address_of_function(contents_->module, symbol);
    });
    return kernel.get();
  }
  return nullptr;
}

Program::Symbol Program::symbol(std::string_view name) const {
  const auto found = contents_->symbols.find(std::string(name));
  return found == contents_->symbols.end() ? Symbol{} : found->second;
}

const KernelFacts& facts_of(const Program::Kernel& kernel) { return kernel.facts; }
std::span<const ParamPlace> params_of(const Program::Kernel& kernel) { return kernel.params; }

}  // namespace ptx
