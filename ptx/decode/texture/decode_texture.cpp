// What reads by texture objects, and what reads and writes by surface objects.
#include <map>
#include <optional>

#include "ptx/decode/decoder.h"
#include "ptx/machine/texture/texture.h"

namespace ptx {
namespace {

using Kind = Operand::Kind;

// How coordinates come: 1d, 2d, 3d; a1d and a2d begin with a layer. Of three some are there twice.
struct Form {
  int count = 0;
  bool has_layer = false;
  std::size_t operands() const {
    const int all = count + (has_layer ? 1 : 0);
    return all == 3 ? 4 : static_cast<std::size_t>(all);
  }
};
std::optional<Form> form_of(const Instruction& i) {
  static const std::map<std::string, Form> all = {{"1d", {1, false}},
                                                  {"2d", {2, false}},
                                                  {"3d", {3, false}},
                                                  {"a1d", {1, true}},
                                                  {"a2d", {2, true}}};
  for (const std::string& m : i.modifiers)
    if (const auto found = all.find(m); found != all.end()) return found->second;
  return {};
}

// Nothing if this machine knows a form of tex.
const char* lack_of(const Instruction& i) {
  const auto& m = i.modifiers;
  if (has(i, "level") || has(i, "grad") || has(i, "base")) return "it would need levels of detail";
  if (!form_of(i)) return "it would need textures that are cubes";
  const Type result = type_of(i, 0), coordinate = type_of(i, 1);
  const bool is_known = (result == Type::f32 || result == Type::s32 || result == Type::u32) &&
                        (coordinate == Type::f32 || coordinate == Type::s32);
  if (!is_known || m.size() != 4 || m[1] != "v4") return "it would need texels of that type";
  if (i.two_results || i.operands.size() != 2)
    return "it would need textures that may lack parts, or offsets";
  if (i.operands[1].index < 0) return "it would need texture references, which CUDA has no more";
  return nullptr;
}

// Of [object, {x, y}], or [object, x].
std::vector<Operand> coordinates_in(const Operand& object) {
  const Operand& all = object.elements.at(0);
  return all.kind == Kind::vector ? std::vector<Operand>(all.elements) : std::vector<Operand>{all};
}

}  // namespace

bool Decoder::decode_texture(const Instruction& i) {
  if (i.opcode == "tex")
    decode_fetch(i);
  else if (i.opcode == "txq")
    decode_texture_query(i);
  else if (i.opcode == "suld" || i.opcode == "sust")
    decode_surface(i);
  else
    return false;
  return true;
}

// The coordinates' slots, behind others in a list.
void Decoder::add_coordinates(const Instruction& i, const Operand& object, bool are_reals,
                              std::vector<int>& to, Uses& uses) {
  const std::vector<Operand> coordinates = coordinates_in(object);
  const Form form = *form_of(i);
  if (coordinates.size() != form.operands() || object.elements.size() != 1 || object.offset != 0)
    refuse(i, "it takes other operands");
  const std::size_t used = static_cast<std::size_t>(form.count) + (form.has_layer ? 1 : 0);
  for (std::size_t n = 0; n < used; ++n) {
    to.push_back(slot(coordinates[n], false, are_reals && !(form.has_layer && n == 0)));
    uses.places.push_back(to.back());
  }
  uses.address = value_of(object, true);
}

// tex.2d.v4.f32.s32 {d0, d1, d2, d3}, [texture, {x, y}];
void Decoder::decode_fetch(const Instruction& i) {
  if (const char* const lack = lack_of(i)) refuse(i, lack);
  const Operand &texels = i.operands[0], &texture = i.operands[1];
  if (texels.elements.size() != 4) refuse(i, "it takes other operands");
  Uses uses;
  std::vector<int> slots;
  for (const Operand& texel : texels.elements) {
    slots.push_back(is_read(texel) ? slot(texel, false) : -1);
    if (slots.back() >= 0) uses.writes.push_back(slots.back());
  }
  const bool are_reals = type_of(i, 1) == Type::f32;
  add_coordinates(i, texture, are_reals, slots, uses);
  const Form form = *form_of(i);
  Op& op = emit_named("tex", uses);
  op.a = uses.address;
  op.d = list(slots);
  op.b = form.count;
  op.mode = static_cast<std::uint8_t>((are_reals ? 0 : 1) + (form.has_layer ? 2 : 0));
  op.flags |= is_cached | tells_taint;
}

// suld.b.2d.v2.b32.trap {d0, d1}, [surface, {x, y}]; sust.b.2d.b64.zero [surface, {x, y}], {a};
void Decoder::decode_surface(const Instruction& i) {
  const bool writes = i.opcode == "sust";
  const std::optional<Form> form = form_of(i);
  if (!has(i, "b") || !form || i.operands.size() != 2)
    refuse(i, "it would need surfaces that are cubes, or have formats");
  const Operand &object = i.operands[writes ? 0 : 1], &values = i.operands[writes ? 1 : 0];
  if (object.index < 0) refuse(i, "it would need surface references, which CUDA has no more");
  const int bytes = bytes_of(type_of(i));
  const std::vector<Operand> elements = values.kind == Kind::vector
                                            ? std::vector<Operand>(values.elements)
                                            : std::vector<Operand>{values};
  const std::size_t wanted = has(i, "v4") ? 4 : has(i, "v2") ? 2 : 1;
  if (elements.size() != wanted || bytes * static_cast<int>(wanted) > 16)
    refuse(i, "it takes other operands");
  Uses uses;
  std::vector<int> slots;
  for (const Operand& element : elements) slots.push_back(slot(element, bytes == 8));
  if (!writes) uses.writes = slots;
  add_coordinates(i, object, false, slots, uses);
  Op& op = emit_named(i.opcode, uses);
  op.a = uses.address;
  op.d = list(slots);
  op.b = form->count;
  op.parts = static_cast<std::uint8_t>(wanted);
  op.part_bytes = static_cast<std::uint8_t>(bytes);
  const Beyond beyond = has(i, "clamp")  ? Beyond::clamp
                        : has(i, "zero") ? Beyond::zero
                                         : Beyond::trap;
  op.mode = static_cast<std::uint8_t>(1 + (form->has_layer ? 2 : 0) + 4 * static_cast<int>(beyond));
  op.flags |= tells_taint;
  if (!writes) op.flags |= is_cached;
}

// txq.width.b32 d, [texture];
void Decoder::decode_texture_query(const Instruction& i) {
  const bool is_height = has(i, "height"), is_depth = has(i, "depth") || has(i, "array_size");
  if ((!is_height && !is_depth && !has(i, "width")) || i.modifiers.size() != 2 ||
      i.operands[1].index < 0)
    refuse(i, "it would need what else textures tell of themselves");
  Uses uses;
  uses.address = value_of(i.operands[1], true);
  const int to = slot(i.operands[0], false);
  uses.writes.push_back(to);
  Op& op = emit_named("txq", uses);
  op.d = to, op.a = uses.address;
  op.mode = is_depth ? 2 : is_height ? 1 : 0;
}

}  // namespace ptx
