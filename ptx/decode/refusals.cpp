// What the machine does not know, and what it would need for it.
#include <fmt/format.h>

#include "ptx/decode/decoder.h"

namespace ptx {
namespace {

const char* need_of(const std::string& opcode) {
  static const std::map<std::string, const char*> needs = {
      {"tcgen05", "the tensor memory of sm_100"},
      {"clusterlaunchcontrol", "clusters that take over the work of others"},
      {"multimem", "memory of several devices"},
      {"tensormap", "tensor maps that a kernel changes"},
      {"tld4", "the same channel of four texels"},
      {"sured", "atomic operations on surfaces"},
      {"suq", "what surfaces tell of themselves"}};
  const auto found = needs.find(opcode);
  return found == needs.end() ? nullptr : found->second;
}

}  // namespace

void Decoder::refuse(const Instruction& i, const std::string& why) const {
  std::string text = i.opcode;
  for (const std::string& modifier : i.modifiers) text += "." + modifier;
  std::string place;
  for (int at = i.place; at >= 0;) {  // a function of CUDA's headers says little
    const Place& p = module_.places[static_cast<std::size_t>(at)];
    place += fmt::format("{}{}:{}", place.empty() ? " (" : ", called from ",
                         module_.files[static_cast<std::size_t>(p.file)], p.line);
    at = p.called_from;
  }
  if (!place.empty()) place += ")";
  const char* const need = need_of(i.opcode);
  const std::string reason =
      why.empty() && need != nullptr ? fmt::format("it would need {}", need) : why;
  throw BadPtx(fmt::format("line {}: {} is not supported{}{}", i.line, text, place,
                           reason.empty() ? "" : ": " + reason));
}

}  // namespace ptx
