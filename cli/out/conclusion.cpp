#include "cli/out/conclusion.h"

#include <fmt/format.h>

#include "base/printable.h"

namespace assay {
namespace {

Colour colour_of(ExitCode code) {
  return code == ExitCode::passed  ? Colour::green
         : code == ExitCode::wrong ? Colour::red
                                   : Colour::yellow;
}

}  // namespace

std::string conclusion_text(const Conclusion& conclusion, const Screen& screen) {
  std::string text =
      fmt::format("{}: {}\n", screen.paint(conclusion.word, colour_of(conclusion.code)),
                  printable(conclusion.sentence));
  if (!conclusion.next.empty()) text += fmt::format("next: {}\n", printable(conclusion.next));
  return text;
}

}  // namespace assay
