// What reads by texture objects.
#include "ptx/decode/decoder.h"

namespace ptx {
namespace {

using Kind = Operand::Kind;

// Nothing if this machine knows a form of tex.
const char* lack_of(const Instruction& i) {
  const auto& m = i.modifiers;
  if (has(i, "level") || has(i, "grad") || has(i, "base")) return "it would need levels of detail";
  if (m.empty() || (m[0] != "1d" && m[0] != "2d"))
    return "it would need textures that are 3D, cubes or layers";
  const Type result = type_of(i, 0), coordinate = type_of(i, 1);
  const bool is_known = (result == Type::f32 || result == Type::s32 || result == Type::u32) &&
                        (coordinate == Type::f32 || coordinate == Type::s32);
  if (!is_known || m.size() != 4 || m[1] != "v4") return "it would need texels of that type";
  if (i.two_results || i.operands.size() != 2)
    return "it would need textures that may lack parts, or offsets";
  if (i.operands[1].index < 0) return "it would need texture references, which CUDA has no more";
  return nullptr;
}

}  // namespace

bool Decoder::decode_texture(const Instruction& i) {
  if (i.opcode == "tex")
    decode_fetch(i);
  else if (i.opcode == "txq")
    decode_texture_query(i);
  else
    return false;
  return true;
}

// tex.2d.v4.f32.s32 {d0, d1, d2, d3}, [texture, {x, y}];
void Decoder::decode_fetch(const Instruction& i) {
  if (const char* const lack = lack_of(i)) refuse(i, lack);
  const Operand &texels = i.operands[0], &texture = i.operands[1];
  const Operand& list_of_coordinates = texture.elements.at(0);
  const std::vector<Operand> coordinates = list_of_coordinates.kind == Kind::vector
                                               ? list_of_coordinates.elements
                                               : std::vector<Operand>{list_of_coordinates};
  const std::size_t count = i.modifiers[0] == "1d" ? 1 : 2;
  if (texels.elements.size() != 4 || coordinates.size() != count || texture.elements.size() != 1 ||
      texture.offset != 0)
    refuse(i, "it takes other operands");
  Uses uses;
  std::vector<int> slots;
  for (const Operand& texel : texels.elements) {
    slots.push_back(is_read(texel) ? slot(texel, false) : -1);
    if (slots.back() >= 0) uses.writes.push_back(slots.back());
  }
  const bool are_reals = type_of(i, 1) == Type::f32;
  for (const Operand& coordinate : coordinates) {
    slots.push_back(slot(coordinate, false, are_reals));
    uses.places.push_back(slots.back());
  }
  uses.address = value_of(texture, true);
  Op& op = emit_named("tex", uses);
  op.a = uses.address;
  op.d = list(slots);
  op.b = static_cast<int>(count);
  op.mode = are_reals ? 0 : 1;
  op.flags |= is_cached | tells_taint;
}

// txq.width.b32 d, [texture];
void Decoder::decode_texture_query(const Instruction& i) {
  const bool is_height = has(i, "height");
  if ((!is_height && !has(i, "width")) || i.modifiers.size() != 2 || i.operands[1].index < 0)
    refuse(i, "it would need what else textures tell of themselves");
  Uses uses;
  uses.address = value_of(i.operands[1], true);
  const int to = slot(i.operands[0], false);
  uses.writes.push_back(to);
  Op& op = emit_named("txq", uses);
  op.d = to, op.a = uses.address;
  op.mode = is_height ? 1 : 0;
}

}  // namespace ptx
