// The flags of the commands that are about right and wrong.
#include <fmt/format.h>

#include "base/errors.h"
#include "cli/flags.h"

namespace assay {
namespace {

constexpr const char* exit_codes =
    "Exit status: 0 all that was judged passed, 1 a variant is wrong, 2 bad usage or bad input,\n"
    "             4 the environment is unfit, 77 nothing could be judged here\n";

constexpr const char* check_examples =
    "A case is m, n and k, and what differs from the default (alpha=1 beta=0, no gaps, no "
    "offsets):\n"
    "  \"m=1001 n=513 k=777 alpha=1.5 beta=-0.5 ldb=+3 ldc=+1 offset=1,0,2 fill=uniform seed=42\"\n"
    "  fill: uniform, exact, small_ints, identity, one_hot, special\n"
    "\n"
    "Examples:\n"
    "  assay check                                    every claim about every variant\n"
    "  assay check tiled_32 --cases 1000 --seed 7     one variant, more cases, other cases\n"
    "  assay check naive --claim beta_zero --case \"m=1 n=2 k=3\"\n"
    "\n"
    "With ASSAY_REQUIRE_GPU=1 in the environment a machine without a GPU is an error, exit 4.\n";

class ListCommand : public Command {
 public:
  explicit ListCommand(CLI::App& program)
      : Command(program, "list",
                "what is registered, what each variant needs, where it can run here") {
    result("--json", options_.json, "write it as JSON too; - is stdout");
  }

 private:
  Request finish(const std::vector<std::string>&) override { return options_; }
  ListOptions options_;
};

class DoctorCommand : public Command {
 public:
  explicit DoctorCommand(CLI::App& program)
      : Command(program, "doctor", "what this machine can and cannot do, and why") {
    result("--json", options_.json, "write it as JSON too; - is stdout");
    corpus(options_.corpus);
  }

 private:
  Request finish(const std::vector<std::string>&) override { return options_; }
  DoctorOptions options_;
};

class CheckCommand : public Command {
 public:
  explicit CheckCommand(CLI::App& program)
      : Command(program, "check", "judges variants: right or wrong") {
    words("VARIANT", options_.variants, "names, as `assay list` shows them; else all");
    texts("--backend", options_.backends, "NAME", "simt, cuda or host, again for more; else all");
    texts("--claim", options_.claims, "NAME", "a property, again for more; else all");
    number("--cases", options_.cases, 1, 1000000,
           "judged, for each claim about each variant (100)");
    text("--case", options_.case_text, "TEXT",
         "judge exactly this one, by the claims about what a variant accepts");
    number("--seed", options_.seed, "of the cases that are drawn (0)");
    number("--jobs", options_.jobs, 0, 1024, "at once (one for each core; on a GPU two at most)");
    number("--watchdog", options_.watchdog, 1, 3600,
           "seconds until a kernel on a GPU counts as hung (10)");
    result("--json", options_.json, "write the results as JSON; - is stdout");
    result("--junit", options_.junit, "write the results as JUnit XML; - is stdout");
    corpus(options_.corpus);
    flag("--no-corpus", no_corpus_, "neither try past failures nor keep new ones");
    flag("--quiet", options_.quiet, "print failures and the verdict only");
    footer(fmt::format("{}\n{}", check_examples, exit_codes));
  }

 private:
  Request finish(const std::vector<std::string>& arguments) override {
    if (options_.case_text) refuse_beside_a_case();
    options_.arguments = arguments;
    options_.use_corpus = !no_corpus_;
    return options_;
  }
  void refuse_beside_a_case() const {
    for (const char* flag : {"--cases", "--seed"}) {
      if (app().count(flag) == 0) continue;
      throw BadInput(fmt::format(
          "{} is about cases that are drawn, and --case gives the only one: leave one of them out",
          flag));
    }
  }

  CheckOptions options_;
  bool no_corpus_ = false;
};

}  // namespace

std::unique_ptr<Command> list_command(CLI::App& program) {
  return std::make_unique<ListCommand>(program);
}
std::unique_ptr<Command> doctor_command(CLI::App& program) {
  return std::make_unique<DoctorCommand>(program);
}
std::unique_ptr<Command> check_command(CLI::App& program) {
  return std::make_unique<CheckCommand>(program);
}

}  // namespace assay
