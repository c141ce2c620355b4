// Where operations come from in the source.
#include <fmt/format.h>

#include "ptx/decode/code.h"

namespace ptx {

std::string place_of(const Program::Kernel& kernel, const Op& op) {
  if (op.from >= static_cast<int>(kernel.function.body.size())) return "at the end of the kernel";
  const Instruction& i = kernel.function.body[static_cast<std::size_t>(op.from)];
  if (i.place < 0)
    return fmt::format("line {} of the PTX; compile with -lineinfo for that of the source", i.line);
  std::string all;
  for (const auto& [file, line] : lines_of(kernel, op)) {
    if (!all.empty()) all += ", called from ";
    all += fmt::format("{}:{}", file.substr(file.rfind('/') + 1), line);
  }
  return all;
}

std::vector<SourceLine> lines_of(const Program::Kernel& kernel, const Op& op) {
  if (op.from >= static_cast<int>(kernel.function.body.size())) return {};
  std::vector<SourceLine> lines;
  for (int at = kernel.function.body[static_cast<std::size_t>(op.from)].place; at >= 0;) {
    const Place& place = kernel.module->places[static_cast<std::size_t>(at)];
    lines.push_back({kernel.module->files[static_cast<std::size_t>(place.file)], place.line});
    at = place.called_from;
  }
  return lines;
}

}  // namespace ptx
