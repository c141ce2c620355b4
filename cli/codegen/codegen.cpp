#include "cli/codegen/codegen.h"

#include <fmt/format.h>

#include "base/errors.h"
#include "base/text.h"
#include "base/whole_file.h"
#include "cli/codegen/codegen_report.h"
#include "cli/command.h"

namespace assay {
namespace {

std::string why_none(const CodegenRequest& request) {
  constexpr const char* unreadable =
      "no machine code that can be read: nvcc must have been told --no-compress";
  if (!request.in.empty()) return fmt::format("{}: {}", joined(request.in), unreadable);
#ifdef ASSAY_CUDA
  return fmt::format("this program has {}", unreadable);
#else
  return "this build has no kernels for a GPU: configure with the preset cuda";
#endif
}

ExitCode run(const CodegenRequest& request) {
  if (!request.commit.empty() && !request.compare)
    throw BadInput("--commit says what to --compare with: give both");
  const OutputFile json(request.json);
  CodegenResult result{.request = request};
  const auto files = request.in.empty() ? std::vector<std::string>{"/proc/self/exe"} : request.in;
  const auto kernels = kernels_in(files);
  if (kernels.empty()) {
    result.why_not = why_none(request);
  } else {
    result.kernels = kernels_named(kernels, request.kernels);
    if (request.compare)
      result.comparisons = compare_code_with_all(*request.compare, request.commit, kernels);
  }
  const Conclusion conclusion = conclude(result);
  const Screen screen = screen_beside({request.json});
  screen.print(codegen_text(result, conclusion, screen));
  if (json) json.write(json_of(result, conclusion));
  return conclusion.code;
}

}  // namespace

void add_flags(Flags& flags, CodegenRequest& request) {
  flags.words("KERNEL", request.kernels,
              "names of kernels, or of their files without .cu; default: all");
  flags.texts("--in", request.in, "FILE",
              "a program, object or cubin; repeat for more; default: this program");
  flags.text("--compare", request.compare, "DIR",
             "compare with the machine code of the baselines in this folder");
  flags.text("--commit", request.commit, "SHA", "compare only with baselines of this commit");
  flags.result("--json", request.json, "also write it as JSON; - is stdout");
  flags.keep_all(request.arguments);
  flags.footer(
      "Examples:\n"
      "  assay codegen                                          every kernel of this program\n"
      "  assay codegen tiled --in build/cuda/mine.o --json -\n"
      "\n"
      "Exit status: 0 shown, or equal to the baselines, 1 it differs, 2 bad usage or bad input,\n"
      "             5 no baseline to compare with, 77 there is no machine code here\n");
}

Command codegen_command() {
  return command("codegen", "shows what the compiler made of the kernels; needs no GPU", add_flags,
                 run);
}

}  // namespace assay
