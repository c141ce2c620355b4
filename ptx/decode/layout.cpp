// Where a kernel's own variables and parameters lie.
#include "ptx/decode/decoder.h"

namespace ptx {
namespace {

std::uint64_t aligned(std::uint64_t at, std::uint64_t to) { return (at + to - 1) / to * to; }

}  // namespace

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
  const auto own = [&](const Variable& v) {
    if (v.space == Space::shared && (v.is_extern || v.bytes == 0))
      dynamic.push_back(&v);
    else if (v.space == Space::shared)
      place(v, Space::shared, shared);
    else if (v.space == Space::local || v.space == Space::param)
      place(v, Space::local, local_bytes_);
  };
  for (const Variable& v : f_.variables) own(v);
  for (const Variable& v : module_.variables)
    if (v.space == Space::shared && is_used(v.name)) own(v);
  std::uint64_t align = 16;
  for (const Variable* v : dynamic) align = std::max(align, v->align);
  if (!dynamic.empty()) shared = aligned(shared, align);
  for (const Variable* v : dynamic) placed_[v->name] = {Space::shared, shared};
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
