// Where a kernel's own variables and parameters lie.
#include <cxxabi.h>

#include <cstdlib>

#include "ptx/decode/decoder.h"

namespace ptx {
namespace {

std::uint64_t aligned(std::uint64_t at, std::uint64_t to) { return (at + to - 1) / to * to; }

}  // namespace

std::string own_name(const std::string& symbol) {
  const std::string mangled = symbol.substr(0, symbol.find('#'));
  if (!mangled.starts_with("_Z")) return mangled;
  int status = 0;
  char* const plain = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status);
  const std::string name = status == 0 ? plain : mangled;
  std::free(plain);
  const auto colons = name.rfind("::");
  return colons == name.npos ? name : name.substr(colons + 2);
}

void Decoder::lay_out() {
  std::uint64_t shared = 0, params = 0;
  const auto place = [&](const Variable& v, Space space, std::uint64_t& end) {
    end = aligned(end, std::max<std::uint64_t>(1, v.align));
    placed_[v.name] = {space, end};
    end += v.bytes;
  };
  for (const Variable& v : f_.params) {
    place(v, Space::param, params);
    out_.params.push_back({placed_[v.name].at, v.bytes});
  }
  std::vector<const Variable*> dynamic;
  const auto list_shared = [&](const Variable& v, std::uint64_t bytes) {
    shared_arrays_[v.name] = static_cast<int>(out_.shared_variables.size());
    out_.shared_variables.push_back({own_name(v.name), placed_[v.name].at, bytes});
  };
  const auto own = [&](const Variable& v) {
    if (v.space == Space::shared && (v.is_extern || v.bytes == 0)) {
      dynamic.push_back(&v);
    } else if (v.space == Space::shared) {
      place(v, Space::shared, shared);
      list_shared(v, v.bytes);
    } else if (v.space == Space::local || v.space == Space::param) {
      place(v, Space::local, local_bytes_);
    }
  };
  for (const Variable& v : f_.variables) own(v);
  for (const Variable& v : module_.variables)
    if (v.space == Space::shared && is_used(v.name)) own(v);
  std::uint64_t align = 16;
  for (const Variable* v : dynamic) align = std::max(align, v->align);
  if (!dynamic.empty()) shared = aligned(shared, align);
  for (const Variable* v : dynamic) {
    placed_[v->name] = {Space::shared, shared};
    list_shared(*v, 0);
  }
  local_bytes_ = aligned(local_bytes_, 16);
  out_.facts.static_shared = shared;
  out_.facts.params = params;
}

bool Decoder::is_used(const std::string& name) const {
  const auto names = [&](const auto& self, const Operand& o) -> bool {
    if (o.text == name) return true;
    for (const Operand& element : o.elements)
      if (self(self, element)) return true;
    return false;
  };
  for (const Instruction& i : f_.body)
    for (const Operand& o : i.operands)
      if (names(names, o)) return true;
  return false;
}

}  // namespace ptx
