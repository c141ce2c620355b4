#include "cli/bench/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/text.h"
#include "base/whole_file.h"
#include "cli/command.h"
#include "cli/out/result.h"
#include "cli/selection.h"
#include "cli/worker_flags.h"
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
      "{} operands, {}, seed {}, in {}\n",
      name == report.device.end() ? "this GPU" : name->second, report.peak_tflops,
      report.memory_gb_s, result.request.warm ? "warm" : "cold",
      report.processes == 1 ? "1 process" : fmt::format("{} processes", report.processes),
      result.request.seed, duration_text(report.seconds));
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

Table table_of(const Case& problem, const std::vector<const BenchLine*>& lines) {
  Table table;
  table.add_column(to_string(problem), Side::left);
  for (const char* heading :
       {"us", "95 %", "TFLOP/s", "% cuBLAS", "95 %", "% peak", "% roofline", "MHz"})
    table.add_column(heading, Side::right);
  for (const BenchLine* line : lines) {
    if (!was_timed(*line)) {
      std::vector<Table::Cell> row(9);
      row[0] = {line->cell.variant};
      row[1] = line->wrong ? Table::Cell{"WRONG", Colour::red} : Table::Cell{"-", Colour::faint};
      table.add_row(std::move(row));
      table.add_line(line->why_not);
      continue;
    }
    const int decimals = decimals_of(line->time_us.value);
    const bool beside_cublas = line->percent_of_cublas.value > 0;
    table.add_row({{line->cell.variant},
                   {fmt::format("{:.{}f}", line->time_us.value, decimals)},
                   {interval(line->time_us, decimals), Colour::faint},
                   {number(line->tflops)},
                   {beside_cublas ? fmt::format("{:.1f}", line->percent_of_cublas.value) : "-"},
                   {beside_cublas ? interval(line->percent_of_cublas, 1) : "", Colour::faint},
                   {fmt::format("{:.1f}", line->percent_of_peak)},
                   {fmt::format("{:.1f}", line->percent_of_roofline)},
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

std::string bench_text(const BenchResult& result, const Conclusion& conclusion,
                       const Screen& screen) {
  const BenchReport& report = result.report;
  const std::string verdict = conclusion_text(conclusion, screen);
  if (report.lines.empty() || !report.unfit.empty()) return verdict;
  std::string text;
  if (conclusion.code != ExitCode::passed) text += verdict;
  const bool says_how = !result.request.quiet && timed_anything(report);
  if (says_how) text += device_text(result);
  for (const Case& problem : problems_of(report)) {
    std::vector<const BenchLine*> lines;
    for (const BenchLine& line : report.lines) {
      if (line.cell.problem == problem && (!result.request.quiet || line.wrong))
        lines.push_back(&line);
    }
    if (!lines.empty()) text += fmt::format("\n{}", table_of(problem, lines).text(screen));
  }
  if (says_how) text += fmt::format("\n{}", cold_text(result));
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

void measure(BenchResult& result, const std::vector<Case>& problems) {
  const BenchRequest& request = result.request;
  ProgressLine progress(!request.quiet);
  result.report = bench({.variants = variants_for_gpu(request.variants),
                         .problems = problems.empty() ? bench_problems() : problems,
                         .processes = request.processes,
                         .seed = request.seed,
                         .warm = request.warm,
                         .time = processes_started_with(time_worker_flag)},
                        [&](const std::string& step, double done) { progress.update(step, done); });
}

ExitCode run(const BenchRequest& request) {
  refuse_unknown(request.variants);
  std::vector<Case> problems;
  for (const std::string& text : request.problems)
    problems.push_back(problem_named("--problem", text));
  refuse_missing_gpu();
  const OutputFile json(request.json);

  BenchResult result{.request = request, .why_not = unavailable(Backend::cuda)};
  if (result.why_not.empty()) measure(result, problems);
  const Conclusion conclusion = conclude(result);
  const Screen screen = screen_beside({request.json});
  screen.print(bench_text(result, conclusion, screen));
  if (json) json.write(json_of(result, conclusion));
  return conclusion.code;
}

}  // namespace

void add_flags(Flags& flags, BenchRequest& request) {
  flags.words("VARIANT", request.variants, "names from `assay list`; default: all");
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
