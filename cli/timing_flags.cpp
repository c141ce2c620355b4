// The flags of the commands that are about speed and machine code.
#include <fmt/format.h>

#include "base/errors.h"
#include "cli/flags.h"

namespace assay {
namespace {

constexpr const char* variants_meaning = "names, as `assay list` shows them; else all";

constexpr const char* bench_footer =
    "Examples:\n"
    "  assay bench                                            the ladder on the usual problems\n"
    "  assay bench warptiled --problem \"m=4096 n=4096 k=4096\" --processes 12\n"
    "\n"
    "Exit status: 0 all was timed and right, 1 a result was wrong, 2 bad usage or bad input,\n"
    "             4 the environment is unfit, 77 nothing could be timed here\n";

constexpr const char* gate_footer =
    "Examples:\n"
    "  assay gate time                                        every cell that has a baseline\n"
    "  assay gate time --against main                         against a commit, built here and "
    "now\n"
    "  assay gate time --cell \"warptiled m=4096 n=4096 k=4096\"\n"
    "  assay gate time --explain \"warptiled m=4096 n=4096 k=4096\"\n"
    "\n"
    "Exit status: 0 no cell is slower, 1 a cell is slower or wrong, 2 bad usage or bad input,\n"
    "             3 undecided, 4 the environment is unfit or a measurement is invalid,\n"
    "             5 no baseline, or one for another device, 77 nothing could be judged here\n";

constexpr const char* accept_footer =
    "Examples:\n"
    "  assay accept time --reason \"first baseline\"\n"
    "  assay accept time warptiled --reason \"more registers for the longer k tile, see #12\"\n"
    "\n"
    "Exit status: 0 accepted, 1 a variant that was asked for was left out, or a cell,\n"
    "             2 bad usage or bad input,\n"
    "             4 the environment is unfit, 77 there was nothing to accept here\n";

constexpr const char* codegen_footer =
    "Examples:\n"
    "  assay codegen                                          every kernel of this program\n"
    "  assay codegen tiled --in build/cuda/mine.o --json -\n"
    "\n"
    "Exit status: 0 shown, or the same as what was accepted, 1 it differs, 2 bad usage or bad "
    "input,\n"
    "             5 no baseline to compare with, 77 there is no machine code here\n";

class BenchCommand : public Command {
 public:
  explicit BenchCommand(CLI::App& program)
      : Command(program, "bench", "times variants, beside cuBLAS and what the card can do") {
    words("VARIANT", options_.variants, variants_meaning);
    texts("--problem", options_.problems, "TEXT", "such as \"m=1024 n=1024 k=64\", again for more");
    number("--processes", options_.processes, 1, 1000, "fresh ones, one after the other (3)");
    number("--seed", options_.seed, "of the operands and of the order (0)");
    flag("--warm", options_.warm, "operands may stay in the L2 cache");
    result("--json", options_.json, "write the results as JSON; - is stdout");
    flag("--quiet", options_.quiet, "print what is wrong and the last line only");
    footer(bench_footer);
  }

 private:
  Request finish(const std::vector<std::string>& arguments) override {
    options_.arguments = arguments;
    return options_;
  }
  BenchRequest options_;
};

class GateCommand : public Command {
 public:
  explicit GateCommand(CLI::App& program)
      : Command(program, "gate", "`gate time`: did anything get slower than what was accepted?") {
    subject({"time"}, "time");
    words("VARIANT", options_.variants, variants_meaning);
    options_.baselines = ASSAY_BASELINES_PATH;
    text("--baselines", options_.baselines, "DIR", "what was accepted, if not the project's own");
    text("--cell", options_.cell, "\"VARIANT CASE\"", "only this one");
    text("--explain", options_.explain, "\"VARIANT CASE\"", "only this one, with every number");
    text("--against", options_.against, "REF",
         "a commit of git, built here, instead of what was accepted");
    flag("--all", options_.all, "time also what is proven unchanged");
    number("--seed", options_.seed, "of the operands and of the order (0)");
    result("--json", options_.json, "write the results as JSON; - is stdout");
    result("--markdown", options_.markdown, "write the results as Markdown; - is stdout");
    result("--junit", options_.junit, "write the results as JUnit XML; - is stdout");
    flag("--quiet", options_.quiet, "print what fails and the verdict only");
    footer(gate_footer);
  }

 private:
  Request finish(const std::vector<std::string>& arguments) override {
    if (options_.cell && options_.explain)
      throw BadInput("--cell and --explain each name the only cell: give one of them");
    if ((options_.cell || options_.explain) && !options_.variants.empty())
      throw BadInput("a cell names its variant: give no other variants beside it");
    if (options_.against && options_.baselines != ASSAY_BASELINES_PATH)
      throw BadInput("--against takes the place of --baselines: give one of them");
    options_.arguments = arguments;
    return options_;
  }
  GateRequest options_;
};

class AcceptCommand : public Command {
 public:
  explicit AcceptCommand(CLI::App& program)
      : Command(program, "accept",
                "`accept time`: makes what is here now the baseline, for a reason") {
    subject({"time"}, "time");
    words("VARIANT", options_.variants, variants_meaning);
    text("--reason", options_.reason, "TEXT", "why; it is stored, and read in reviews");
    flag("--move-anchor", options_.move_anchor, "forget how slow it has become since the first");
    flag("--dirty", options_.dirty, "of files that are not committed: nobody can rebuild it");
    number("--processes", options_.processes, 2, 1000, "fresh ones, one after the other (12)");
    number("--seed", options_.seed, "of the operands and of the order (0)");
    options_.baselines = ASSAY_BASELINES_PATH;
    text("--baselines", options_.baselines, "DIR", "where to, if not the project's own");
    text("--unmeasured", options_.unmeasured, "COMMIT",
         "store machine code and launches only, as those of this commit");
    result("--json", options_.json, "write what was accepted as JSON; - is stdout");
    footer(accept_footer);
  }

 private:
  Request finish(const std::vector<std::string>& arguments) override {
    if (options_.reason.find_first_not_of(" \t\r\n") == std::string::npos)
      throw BadInput("accept needs a reason, such as --reason \"first baseline\"");
    options_.arguments = arguments;
    return options_;
  }
  AcceptRequest options_;
};

class CodegenCommand : public Command {
 public:
  explicit CodegenCommand(CLI::App& program)
      : Command(program, "codegen", "what the compiler made of the kernels; needs no GPU") {
    words("KERNEL", options_.kernels, "names, or their files' without the ending; else all");
    texts("--in", options_.in, "FILE",
          "a program, library, object or cubin, again for more; else this program");
    text("--compare", options_.compare, "DIR", "with the machine code that was accepted there");
    text("--commit", options_.commit, "SHA", "compare only with what was accepted of this commit");
    result("--json", options_.json, "write it as JSON too; - is stdout");
    footer(codegen_footer);
  }

 private:
  Request finish(const std::vector<std::string>& arguments) override {
    if (!options_.commit.empty() && !options_.compare)
      throw BadInput("--commit says what to --compare with: give both");
    options_.arguments = arguments;
    return options_;
  }
  CodegenRequest options_;
};

}  // namespace

std::unique_ptr<Command> bench_command(CLI::App& program) {
  return std::make_unique<BenchCommand>(program);
}
std::unique_ptr<Command> gate_command(CLI::App& program) {
  return std::make_unique<GateCommand>(program);
}
std::unique_ptr<Command> accept_command(CLI::App& program) {
  return std::make_unique<AcceptCommand>(program);
}
std::unique_ptr<Command> codegen_command(CLI::App& program) {
  return std::make_unique<CodegenCommand>(program);
}

}  // namespace assay
