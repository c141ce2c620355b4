#include "cli/codegen/codegen.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/errors.h"
#include "base/suggestion.h"
#include "base/text.h"
#include "base/whole_file.h"
#include "cli/codegen/codegen_json.h"
#include "cli/codegen/codegen_report.h"
#include "cli/command.h"

namespace assay {
namespace {

std::vector<CompiledKernel> kernels_in(const std::vector<std::string>& files) {
  std::vector<CompiledKernel> kernels;
  std::set<std::tuple<int, std::string, std::string>> known;
  for (const std::string& file : files) {
    for (const std::string& bytes : cubins_in(file)) {
      const Cubin cubin = read_cubin(bytes);
      for (const KernelCode& code : cubin.kernels) {
        if (known.emplace(cubin.architecture, code.symbol, code.code).second)
          kernels.push_back({cubin.architecture, code});
      }
    }
  }
  return kernels;
}

// Those of these names, by any of a kernel's own.
std::vector<CompiledKernel> named(const std::vector<CompiledKernel>& kernels,
                                  const std::vector<std::string>& names) {
  if (names.empty()) return kernels;
  const auto has = [](const std::vector<std::string>& all, const std::string& one) {
    return std::find(all.begin(), all.end(), one) != all.end();
  };
  std::set<std::string> known;
  for (const CompiledKernel& kernel : kernels) {
    for (const std::string& name : names_of_kernel(kernel.code.symbol)) known.insert(name);
  }
  for (const std::string& name : names) {
    if (known.contains(name)) continue;
    const std::vector<std::string> all(known.begin(), known.end());
    throw BadInput(fmt::format("there is no kernel '{}'{}; there are {}", name,
                               suggestion(name, all), joined(all)));
  }
  std::vector<CompiledKernel> chosen;
  for (const CompiledKernel& kernel : kernels) {
    const auto own = names_of_kernel(kernel.code.symbol);
    if (std::any_of(names.begin(), names.end(), [&](const auto& n) { return has(own, n); }))
      chosen.push_back(kernel);
  }
  return chosen;
}

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
    result.kernels = named(kernels, request.kernels);
  }
  if (request.compare && !kernels.empty()) {
    const auto gpus = stored_gpus(*request.compare);
    if (gpus.empty()) throw NoBaseline(fmt::format("{} has no baseline", *request.compare));
    for (const std::string& gpu : gpus) {
      const auto more = compare(read_baseline(*request.compare, gpu), request.commit, kernels);
      result.comparisons.insert(result.comparisons.end(), more.begin(), more.end());
    }
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
              "a program, library, object or cubin; repeat for more; default: this program");
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
