#include "cli/codegen/codegen.h"

#include <fmt/format.h>

#include "base/child_process.h"
#include "base/errors.h"
#include "base/printable.h"
#include "base/text.h"
#include "base/whole_file.h"
#include "cli/codegen/kernels_of_variants.h"
#include "cli/command.h"
#include "cli/out/result.h"

namespace assay {
namespace {

constexpr std::size_t digits_shown = 12;  // of a hash

std::string instructions_text(const KernelCode& code) {
  std::vector<std::string> counts;
  for (const auto& [kind, count] : code.instructions)
    counts.push_back(fmt::format("{} {}", kind, count));
  return counts.empty() ? "instructions: the encoding is not known" : joined(counts);
}

std::string comparison_text(const CodeComparison& c, const Screen& screen) {
  const std::string what = fmt::format("{} on {}{}, of {}", c.variant, c.gpu,
                                       c.anchor ? ", the anchor" : "", c.commit.substr(0, 12));
  if (c.kernels == 0) return fmt::format("{}: no machine code was accepted\n", what);
  if (c.differences.empty()) return fmt::format("{}: the same machine code\n", what);
  std::string text = fmt::format("{}: {}\n", what, screen.paint("differs", Colour::red));
  for (const std::string& difference : c.differences)
    text += fmt::format("  {}\n", printable(difference));
  return text;
}

std::string kernels_text(const std::vector<CompiledKernel>& kernels, const Screen& screen) {
  Table table;
  table.add_column("kernel", Side::left);
  for (const char* heading : {"sm", "registers", "stack", "shared", "barriers"})
    table.add_column(heading, Side::right);
  table.add_column("code", Side::left);
  for (const auto& [architecture, code] : kernels) {
    table.add_row(
        {{kernel_name(code.symbol)},
         {fmt::to_string(architecture)},
         {fmt::to_string(code.registers)},
         {fmt::to_string(code.stack_bytes), code.stack_bytes > 0 ? Colour::yellow : Colour::plain},
         {fmt::to_string(code.shared_bytes)},
         {fmt::to_string(code.barriers)},
         {code.code.substr(0, digits_shown)}});
    table.add_line(instructions_text(code));
  }
  return table.text(screen);
}

JsonValue json_of(const CompiledKernel& kernel) {
  const KernelCode& code = kernel.code;
  return {{"name", kernel_name(code.symbol)},
          {"symbol", code.symbol},
          {"file", kernel_file(code.symbol)},
          {"architecture", kernel.architecture},
          {"code", code.code},
          {"registers", code.registers},
          {"stack_bytes", code.stack_bytes},
          {"shared_bytes", code.shared_bytes},
          {"barriers", code.barriers},
          {"instructions", code.instructions}};
}

JsonValue json_of(const CodeComparison& c) {
  return {{"gpu", c.gpu},       {"variant", c.variant}, {"anchor", c.anchor},
          {"commit", c.commit}, {"kernels", c.kernels}, {"differences", c.differences}};
}

}  // namespace

Conclusion conclude(const CodegenResult& result) {
  if (!result.why_not.empty())
    return {ExitCode::nothing_judged, "NOTHING TO SHOW", result.why_not, ""};
  if (!result.request.compare)
    return {ExitCode::passed, "SHOWN",
            plural(static_cast<std::int64_t>(result.kernels.size()), "kernel"), ""};
  int same = 0;
  std::vector<std::string> different;
  for (const CodeComparison& c : result.comparisons) {
    if (!c.differences.empty()) {
      add_once(different, c.variant);
    } else {
      same += c.kernels > 0;
    }
  }
  if (!different.empty()) {
    return {ExitCode::wrong, "DIFFERENT",
            fmt::format("the {} of {} is not what was accepted",
                        result.request.launches ? "launch" : "machine code", joined(different)),
            ""};
  }
  if (same == 0) {
    return {
        ExitCode::nothing_judged, "NOTHING COMPARED",
        result.request.commit.empty()
            ? "no machine code was accepted"
            : fmt::format("nothing of {} was accepted, or not on this GPU", result.request.commit),
        ""};
  }
  return {ExitCode::passed, "THE SAME",
          fmt::format("{} {} {} that was accepted", plural(same, "record"),
                      same == 1 ? "has the" : "have the",
                      result.request.launches ? "launch" : "machine code"),
          ""};
}

std::string codegen_text(const CodegenResult& result, const Conclusion& conclusion,
                         const Screen& screen) {
  if (!result.why_not.empty()) return conclusion_text(conclusion, screen);
  if (!result.request.compare) return kernels_text(result.kernels, screen);
  std::string text;
  for (const CodeComparison& c : result.comparisons) text += comparison_text(c, screen);
  return text + conclusion_text(conclusion, screen);
}

std::string json_of(const CodegenResult& result, const Conclusion& conclusion) {
  const auto described = [](const auto& one) { return json_of(one); };
  return result_text({"codegen", result.request.arguments, conclusion},
                     {{"results", json_list(result.kernels, described)},
                      {"comparisons", json_list(result.comparisons, described)}});
}

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
  if (request.launches && (request.commit.empty() || !request.in.empty()))
    throw BadInput("--launches are those of one --commit, in place of --in: say which");
  const OutputFile json(request.json);
  CodegenResult result{.request = request};
  std::vector<std::string> names = request.kernels, files = request.in;
  const Opened compiled = request.files.machine_code(names);
  files.insert(files.end(), compiled.libraries.begin(), compiled.libraries.end());
  if (files.empty()) files = {this_program};
  const auto kernels = request.launches ? std::vector<CompiledKernel>() : kernels_in(files);
  if (request.launches) {
    result.comparisons =
        compare_launches_of_all(*request.compare, request.commit, *request.launches);
  } else if (kernels.empty()) {
    result.why_not = why_none(request);
  } else {
    result.kernels =
        kernels_named(kernels, names_of_kernels(request.kernels, kernels, request.files));
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
              "names of kernels, of variants, or of their files without .cu; or a FILE such as "
              "path/to/mine.cu, which is compiled; default: all");
  request.files.add_flags(flags);
  flags.texts("--in", request.in, "FILE",
              "a program, object or cubin; repeat for more; default: this program");
  flags.text("--compare", request.compare, "DIR",
             "compare with the machine code of the baselines in this folder");
  flags.text("--launches", request.launches, "DIR",
             "compare launches instead, with those that `ci/against SHA` left in this folder");
  flags.text("--commit", request.commit, "SHA", "compare only with baselines of this commit");
  flags.result("--json", request.json, "also write it as JSON; - is stdout");
  flags.keep_all(request.arguments);
  flags.footer(
      "Examples:\n"
      "  assay codegen                                          every kernel of this program\n"
      "  assay codegen path/to/mine.cu                          of a file that lies anywhere\n"
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
