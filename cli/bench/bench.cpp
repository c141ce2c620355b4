#include "cli/bench/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "base/text.h"
#include "base/whole_file.h"
#include "cli/command.h"
#include "cli/out/result.h"
#include "cli/selection.h"
#include "cli/worker_flags.h"
#include "kernels/registry.h"
#include "oracle/machine.h"
#include "regress/problems.h"
#include "regress/processes.h"

namespace assay {
namespace {

bool was_timed(const BenchLine& line) { return !line.wrong && line.why_not.empty(); }

std::string device_text(const BenchResult& result) {
  const BenchReport& report = result.report;
  const auto name = report.device.find("name");
  return fmt::format(
      "{}: {:.1f} TFLOP/s of FFMA and {:.0f} GB/s of memory, measured here\n"
      "{} operands, {}, seed {}\n",
      name == report.device.end() ? "this GPU" : name->second, report.peak_tflops,
      report.memory_gb_s, result.request.warm ? "warm" : "cold",
      report.processes == 1 ? "1 process" : fmt::format("{} processes", report.processes),
      result.request.seed);
}

// Three digits that mean something, or more before the point.
std::string number(double value) {
  const int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f}", value, decimals);
}

std::string interval(const Ratio& e, int decimals) {
  return fmt::format("{:.{}f} to {:.{}f}", e.low, decimals, e.high, decimals);
}

int decimals_of(double time_us) { return time_us < 100 ? 2 : 1; }

// A variant of another arithmetic than FP32 is in a class of its own, and says so.
std::string name_of(const BenchLine& line) {
  const std::string& name = line.cell.variant;
  return line.arithmetic == Arithmetic::fp32
             ? name
             : fmt::format("{} ({})", name, to_string(line.arithmetic));
}

std::string percent(double value) { return value > 0 ? fmt::format("{:.1f}", value) : "-"; }

Table table_of(const Case& problem, const std::vector<const BenchLine*>& lines) {
  Table table;
  table.add_column(to_string(problem), Side::left);
  for (const char* heading :
       {"us", "95 %", "TFLOP/s", "% cuBLAS", "95 %", "% peak", "% roofline", "MHz"})
    table.add_column(heading, Side::right);
  for (const BenchLine* line : lines) {
    if (!was_timed(*line)) {
      std::vector<Table::Cell> row(9);
      row[0] = {name_of(*line)};
      row[1] = line->wrong ? Table::Cell{"WRONG", Colour::red} : Table::Cell{"-", Colour::faint};
      table.add_row(std::move(row));
      table.add_line(line->why_not);
      continue;
    }
    const int decimals = decimals_of(line->time_us.value);
    const bool beside_cublas = line->percent_of_cublas.value > 0;
    table.add_row({{name_of(*line)},
                   {fmt::format("{:.{}f}", line->time_us.value, decimals)},
                   {interval(line->time_us, decimals), Colour::faint},
                   {number(line->tflops)},
                   {percent(line->percent_of_cublas.value)},
                   {beside_cublas ? interval(line->percent_of_cublas, 1) : "", Colour::faint},
                   {percent(line->percent_of_peak)},
                   {percent(line->percent_of_roofline)},
                   {line->clock_mhz > 0 ? fmt::format("{:.0f}", line->clock_mhz) : "-"}});
  }
  return table;
}

std::vector<Case> problems_of(const BenchReport& report) {
  std::vector<Case> problems;
  for (const BenchLine& line : report.lines) add_once(problems, line.cell.problem);
  return problems;
}

bool timed_anything(const BenchReport& report) {
  return std::any_of(report.lines.begin(), report.lines.end(), was_timed);
}

// Whether cold operands were shown to be cold.
std::string cold_text(const BenchResult& result) {
  if (result.request.warm) return "warm: operands may stay in the L2 cache\n";
  double least = std::numeric_limits<double>::infinity();
  std::vector<std::string> doubtful;
  for (const BenchLine& line : result.report.lines) {
    if (!was_timed(line)) continue;
    least = std::min(least, line.cold);
    if (!(line.cold >= least_coldness))
      doubtful.push_back(fmt::format("{} ({:.2f})", to_string(line.cell), line.cold));
  }
  if (doubtful.empty()) {
    return fmt::format(
        "cold, and shown to be: operands took {:.1f} times as long to reach as in "
        "the L2 cache, or longer\n",
        least);
  }
  return fmt::format(
      "not shown to be cold, for operands took less than {} times as long to reach "
      "as in the L2 cache: {}\n",
      least_coldness, joined(doubtful));
}

JsonValue json_of(const Ratio& e) { return {{"value", e.value}, {"low", e.low}, {"high", e.high}}; }

JsonValue json_of(const BenchLine& line) {
  return {{"variant", line.cell.variant},
          {"arithmetic", to_string(line.arithmetic)},
          {"problem", to_string(line.cell.problem)},
          {"status", line.wrong             ? "wrong"
                     : line.why_not.empty() ? "timed"
                                            : "not_timed"},
          {"reason", line.why_not},
          {"time_us", json_of(line.time_us)},
          {"tflops", line.tflops},
          {"percent_of_cublas", json_of(line.percent_of_cublas)},
          {"percent_of_peak", line.percent_of_peak},
          {"percent_of_roofline", line.percent_of_roofline},
          {"clock_mhz", line.clock_mhz},
          {"cold", line.cold}};
}

}  // namespace

Conclusion conclude(const BenchResult& result) {
  const BenchReport& report = result.report;
  if (!result.why_not.empty())
    return {ExitCode::nothing_judged, "NOTHING TIMED", result.why_not, ""};
  std::vector<std::string> wrong;
  int timed = 0, not_timed = 0;
  for (const BenchLine& line : report.lines) {
    if (line.wrong) wrong.push_back(to_string(line.cell));
    (was_timed(line) ? timed : not_timed) += 1;
  }
  if (!wrong.empty()) {
    return {ExitCode::wrong, "WRONG", fmt::format("the result of {}", joined(wrong)),
            "assay check --backend cuda"};
  }
  if (!report.unfit.empty()) return {ExitCode::unfit_environment, "UNFIT", report.unfit, ""};
  if (report.problems_left > 0) {
    return {ExitCode::undecided, "STOPPED",
            fmt::format("{} on {}, and {} not timed", plural(timed, "time"),
                        plural(static_cast<std::int64_t>(problems_of(report).size()), "problem"),
                        plural(report.problems_left, "problem")),
            ""};
  }
  if (timed == 0) {
    return {ExitCode::nothing_judged, "NOTHING TIMED",
            report.lines.empty() ? "there is no variant to time" : report.lines.front().why_not,
            ""};
  }
  return {ExitCode::passed, "TIMED",
          fmt::format("{} on {}, every result right{}", plural(timed, "time"),
                      plural(static_cast<std::int64_t>(problems_of(report).size()), "problem"),
                      not_timed > 0 ? fmt::format("; {} not timed", not_timed) : ""),
          ""};
}

std::string tables_text(const BenchResult& result, const Screen& screen, std::size_t shown) {
  const BenchReport& report = result.report;
  std::string text;
  if (shown == 0 && !result.request.quiet && timed_anything(report)) text += device_text(result);
  for (std::size_t end, begin = shown; begin < report.lines.size(); begin = end) {
    const Case& problem = report.lines[begin].cell.problem;
    std::vector<const BenchLine*> lines;
    for (end = begin; end < report.lines.size() && report.lines[end].cell.problem == problem;
         ++end) {
      if (!result.request.quiet || report.lines[end].wrong) lines.push_back(&report.lines[end]);
    }
    if (!lines.empty()) text += fmt::format("\n{}", table_of(problem, lines).text(screen));
  }
  return text;
}

std::string bench_text(const BenchResult& result, const Conclusion& conclusion,
                       const Screen& screen, std::size_t shown) {
  const BenchReport& report = result.report;
  const std::string verdict = conclusion_text(conclusion, screen);
  if (report.lines.empty() || !report.unfit.empty()) return verdict;
  std::string text;
  if (conclusion.code != ExitCode::passed && shown == 0) text += verdict;
  text += tables_text(result, screen, shown);
  if (!result.request.quiet && timed_anything(report))
    text += fmt::format("\n{}it took {}\n", cold_text(result), duration_text(report.seconds));
  return text + verdict;
}

std::string json_of(const BenchResult& result, const Conclusion& conclusion) {
  const BenchReport& report = result.report;
  return result_text(
      {.command = "bench",
       .arguments = result.request.arguments,
       .conclusion = conclusion,
       .device = report.device},
      {{"seed", result.request.seed},
       {"warm", result.request.warm},
       {"processes", report.processes},
       {"seconds", report.seconds},
       {"peak_tflops", report.peak_tflops},
       {"memory_gb_s", report.memory_gb_s},
       {"unfit", report.unfit},
       {"results", json_list(report.lines, [](const BenchLine& line) { return json_of(line); })}});
}

namespace {

ExitCode conclude_without_gpu(const BenchRequest& request, const std::string& why) {
  std::vector<std::string> names = request.variants;
  if (!request.files.refuse_missing(names)) refuse_unknown(names);
  for (const std::string& text : request.problems) problem_named("--problem", text);
  refuse_missing_gpu();
  const OutputFile json(request.json);
  const BenchResult result{.request = request, .why_not = why};
  const Conclusion conclusion = conclude(result);
  screen_beside({request.json}).print(conclusion_text(conclusion, screen_beside({request.json})));
  if (json) json.write(json_of(result, conclusion));
  return conclusion.code;
}

constexpr double longest_launch_us = 250'000;  // of problems that nobody named

ExitCode run(const BenchRequest& request) {
  if (const std::string why = unavailable(Backend::cuda); !why.empty())
    return conclude_without_gpu(request, why);
  std::vector<std::string> names = request.variants;
  const Opened opened = request.files.open_for_gpu(names);
  std::vector<Case> problems;
  for (const std::string& text : request.problems)
    problems.push_back(problem_named("--problem", text));
  std::vector<std::string> worker = {time_worker_flag};
  worker.insert(worker.end(), opened.libraries.begin(), opened.libraries.end());
  return run_bench(request, {.variants = variants_for_gpu(names),
                             .problems = problems.empty() ? bench_problems() : problems,
                             .processes = request.processes,
                             .seed = request.seed,
                             .warm = request.warm,
                             .longest_us = problems.empty() ? longest_launch_us : 0,
                             .time = processes_started_with(worker)});
}

}  // namespace

ExitCode run_bench(const BenchRequest& request, const BenchOptions& options) {
  const OutputFile json(request.json);
  const bool is_kept = json && request.json != "-";
  const Screen screen = screen_beside({request.json});
  BenchResult result{.request = request};
  std::size_t shown = 0;
  std::optional<ProgressLine> progress;
  const auto advance = [&](const std::string& step, double share) {
    if (!progress) progress.emplace(!request.quiet);
    progress->update(step, share);
  };
  const auto show = [&](const BenchReport& so_far) {
    progress.reset();
    result.report = so_far;
    if (!timed_anything(so_far)) return;
    screen.print(tables_text(result, screen, shown));
    shown = so_far.lines.size();
    if (is_kept && so_far.problems_left > 0) json.write(json_of(result, conclude(result)));
  };
  result.report = bench(options, advance, show);
  progress.reset();
  const Conclusion conclusion = conclude(result);
  screen.print(bench_text(result, conclusion, screen, shown));
  if (json) json.write(json_of(result, conclusion));
  return conclusion.code;
}

void add_flags(Flags& flags, BenchRequest& request) {
  flags.words("VARIANT", request.variants,
              "names from `assay list`, or FILEs of kernels such as mine.cu, and names of variants "
              "in them; default: all");
  request.files.add_flags(flags);
  request.files.add_library_flag(flags);
  flags.texts("--problem", request.problems, "TEXT",
              "a case such as \"m=1024 n=1024 k=64\"; repeat for more");
  flags.number("--processes", request.processes, 1, 1000,
               "how many fresh processes time it, one after the other (3)");
  flags.number("--seed", request.seed, "seed of the operands and of the order (0)");
  flags.flag("--warm", request.warm, "let operands stay in the L2 cache");
  flags.result("--json", request.json, "write the results as JSON; - is stdout");
  flags.flag("--quiet", request.quiet, "print only wrong results and the verdict");
  flags.keep_all(request.arguments);
  flags.footer(
      "Examples:\n"
      "  assay bench                                            the ladder on the usual problems\n"
      "  assay bench path/to/mine.cu                            those of a file, beside cuBLAS\n"
      "  assay bench warptiled --problem \"m=4096 n=4096 k=4096\" --processes 12\n"
      "\n"
      "Exit status: 0 everything was timed and is right, 1 a result is wrong,\n"
      "             2 bad usage or bad input, 4 the environment is unfit,\n"
      "             77 nothing could be timed here\n");
}

Command bench_command() {
  return command("bench", "times variants beside cuBLAS and the limits of the GPU", add_flags, run);
}

}  // namespace assay
