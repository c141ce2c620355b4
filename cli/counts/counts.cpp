#include "cli/counts/counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/child_process.h"
#include "base/errors.h"
#include "base/text.h"
#include "base/whole_file.h"
#include "cli/command.h"
#include "cli/selection.h"
#include "regress/code/compiled_kernel.h"

namespace assay {

double intensity_asked(const Case& c, const ptx::Counts& counts) {
  const std::uint64_t bytes = counts.global_loads.bytes_asked + counts.global_copies.bytes_asked +
                              counts.bulk_loads.bytes_asked;
  return bytes == 0 ? 0 : 2 * c.multiply_adds() / static_cast<double>(bytes);
}
double intensity_moved(const Case& c, const ptx::Counts& counts) {
  const std::uint64_t bytes = counts.global_loads.bytes_moved() +
                              counts.global_copies.bytes_moved() + counts.bulk_loads.bytes_moved();
  return bytes == 0 ? 0 : 2 * c.multiply_adds() / static_cast<double>(bytes);
}
ptx::Counts total_of(const Counting& counting) {
  ptx::Counts total;
  for (const ptx::LaunchCounts& launch : counting.launches) total += launch.total;
  return total;
}

Conclusion conclude(const CountsResult& result) {
  std::int64_t counted = 0, refused = 0;
  for (const CountsLine& line : result.lines) {
    if (line.counting.failure) {
      return {ExitCode::wrong, "FAIL",
              fmt::format("{} on ptx: {}", line.variant, line.counting.failure->reason),
              fmt::format("assay check {}{}{} --backend ptx --case \"{}\"", line.source,
                          line.source.empty() ? "" : " ", line.variant, to_string(result.problem))};
    }
    counted += !line.counting.launches.empty();
    refused += !line.counting.refusal.empty();
  }
  if (counted == 0)
    return {ExitCode::nothing_judged, "NOTHING COUNTED", "no kernel was launched", ""};
  return {ExitCode::passed, "COUNTED",
          fmt::format("{}{}", plural(counted, "variant"),
                      refused == 0 ? "" : fmt::format("; {} refused the case", refused)),
          ""};
}

namespace {

std::vector<Entry> entries_to_count(const std::vector<std::string>& named) {
  std::vector<Entry> entries;
  bool any = false;
  for (const Entry& entry : registered()) {
    if (entry.backend != Backend::ptx) continue;
    any = true;
    if (named.empty() || std::find(named.begin(), named.end(), entry.variant.name) != named.end())
      entries.push_back(entry);
  }
  if (!any)
    throw BadInput(fmt::format("nothing to count: {}",
                               registered().empty() ? no_kernels : no_kernels_of_nvcc));
  for (const std::string& name : named) {
    const bool is_there = std::any_of(entries.begin(), entries.end(), [&](const Entry& entry) {
      return entry.variant.name == name;
    });
    if (!is_there)
      throw BadInput(
          fmt::format("nothing to count: {} does not exist for ptx; see assay list", name));
  }
  return entries;
}

// Shared loads in the machine code, by their width.
std::map<int, int> shared_loads_of(const KernelCode& code) {
  std::map<int, int> all;
  for (const auto& [name, bytes] : {std::pair{"LDS", 4}, {"LDS.64", 8}, {"LDS.128", 16}})
    if (const auto found = code.instructions.find(name); found != code.instructions.end())
      all[bytes] = static_cast<int>(found->second);
  return all;
}
std::string loads_text(const std::map<int, int>& loads) {
  std::vector<std::string> words;
  for (const auto& [bytes, count] : loads)
    words.push_back(fmt::format("{} of {} bytes", count, bytes));
  return words.empty() ? "none" : joined(words);
}

// Where the compiler's machine code is in this program, its shared loads are compared with those
// that were counted: the assembler may have dropped some, or unrolled a loop.
std::vector<std::string> remarks_on(const Counting& counting,
                                    const std::vector<CompiledKernel>& compiled) {
  std::vector<std::string> remarks;
  for (const ptx::LaunchCounts& launch : counting.launches) {
    if (!launch.not_counted.empty())
      remarks.push_back(fmt::format("what {} moves is not counted: no rule is known",
                                    joined(launch.not_counted, " and ")));
    for (const CompiledKernel& kernel : compiled) {
      if (kernel_name(kernel.code.symbol) != launch.kernel || kernel.code.instructions.empty())
        continue;
      const std::map<int, int> there = shared_loads_of(kernel.code);
      if (there == launch.shared_loads_by_bytes) continue;
      remarks.push_back(fmt::format(
          "the machine code for sm_{} has other shared loads ({}) than the PTX ({}), so shared "
          "loads rest on the PTX alone",
          kernel.architecture, loads_text(there), loads_text(launch.shared_loads_by_bytes)));
      break;
    }
  }
  return remarks;
}

ExitCode run(const CountsRequest& request) {
  CountsResult result{.request = request, .problem = problem_named("--case", request.case_text)};
  std::vector<std::string> names = request.variants;
  const Opened opened = request.files.open(names, {"ptx"});
  refuse_unknown(names);
  const std::vector<Entry> entries = entries_to_count(names);
  const OutputFile json(request.json);
  // The machine code of a file is not compiled for this: assay codegen shows it.
  const auto compiled =
      opened.libraries.empty() ? kernels_in({this_program}) : std::vector<CompiledKernel>();
  {
    ProgressLine progress(!request.quiet, static_cast<std::int64_t>(entries.size()));
    for (const Entry& entry : entries) {
      CountsLine line{.variant = entry.variant.name,
                      .counting = count(entry, result.problem),
                      .source = entry.source};
      for (ptx::LaunchCounts& launch : line.counting.launches)
        launch.kernel = kernel_name(launch.kernel);
      if (!line.counting.refusal.empty() && !names.empty())
        throw BadInput(fmt::format("{} refuses the case \"{}\": {}; choose another --case",
                                   line.variant, to_string(result.problem), line.counting.refusal));
      line.remarks = remarks_on(line.counting, compiled);
      result.lines.push_back(std::move(line));
      progress.update(static_cast<std::int64_t>(result.lines.size()));
    }
  }
  if (std::none_of(result.lines.begin(), result.lines.end(), [](const CountsLine& line) {
        return line.is_counted() || line.counting.failure;
      }))
    throw BadInput(
        fmt::format("every variant refuses the case \"{}\", the first because {}; choose "
                    "another --case",
                    to_string(result.problem), result.lines.front().counting.refusal));
  const Conclusion conclusion = conclude(result);
  const Screen screen = screen_beside({request.json});
  screen.print(request.quiet ? conclusion_text(conclusion, screen)
                             : counts_text(result, conclusion, screen));
  if (json) json.write(json_of(result, conclusion));
  return conclusion.code;
}

void add_flags(Flags& flags, CountsRequest& request) {
  flags.words("VARIANT", request.variants,
              "names from `assay list`, or FILEs of kernels such as mine.cu, and names of variants "
              "in them; default: all");
  request.files.add_flags(flags);
  request.files.add_model_flag(flags);
  flags.text("--case", request.case_text, "TEXT",
             "the case to count (\"m=256 n=256 k=256\"); see assay check --help");
  flags.flag("--by-line", request.by_line, "also show the source lines with their counts");
  flags.result("--json", request.json,
               "write the counts as JSON, by line with --by-line; - is stdout");
  flags.flag("--quiet", request.quiet, "print only the verdict");
  flags.keep_all(request.arguments);
  flags.footer(
      "Counted are the PTX instructions of nvcc, run on a CPU, by the rules of an H200. A request "
      "is\n"
      "one instruction of a warp; it costs sectors of 32 bytes in global memory, and wavefronts "
      "in\n"
      "shared memory: more than one for 128 bytes is a bank conflict. A stride is how many floats\n"
      "apart neighbouring threads are.\n"
      "\n"
      "Examples:\n"
      "  assay counts                                           every variant\n"
      "  assay counts path/to/mine.cu --by-line                 those of a file that lies "
      "anywhere\n"
      "  assay counts tiled_32 --by-line --case \"m=1001 n=513 k=777\"\n"
      "\n"
      "Exit status: 0 counted, 1 a launch fails, 2 bad usage or bad input, such as a case that a\n"
      "             named variant refuses, or a build without nvcc\n");
}

}  // namespace

Command counts_command() {
  return command("counts", "counts what variants ask of a GPU's memory; needs nvcc, and no GPU",
                 add_flags, run);
}

}  // namespace assay
