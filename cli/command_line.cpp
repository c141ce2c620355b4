#include "cli/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdio>

#include "oracle/case.h"

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

template <class Number>
Number number_of(const char* flag, const std::string& text, Number least, Number most) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value >= least && value <= most)
    return value;
  throw BadInput(
      fmt::format("{} is a whole number from {} to {}, not '{}'", flag, least, most, text));
}

void insist_on_file_name(const char* flag, const CLI::Option* option) {
  for (const std::string& name : option->results()) {
    if (name.empty() || name.starts_with("--"))
      throw BadInput(fmt::format("{} takes the name of a file, not '{}'", flag, name));
  }
}

CLI::Option* one_at_a_time(CLI::Option* option) {
  return option->allow_extra_args(false);  // what follows `--backend simt` is a variant
}

class CommandLine {
 public:
  CommandLine() {
    app_.name("assay");
    app_.set_version_flag("--version", "assay " ASSAY_VERSION, "print the version");
    app_.require_subcommand(0, 1);
    app_.allow_extras();
    app_.footer(exit_codes);
    for (CLI::App* command : {list_, doctor_, check_}) command->allow_extras();
    list_json_ =
        list_->add_option("--json", list_options_.json, "write it as JSON too; - is stdout")
            ->type_name("FILE");
    doctor_json_ =
        doctor_->add_option("--json", doctor_options_.json, "write it as JSON too; - is stdout")
            ->type_name("FILE");
    doctor_corpus_ = add_corpus(doctor_, doctor_options_.corpus);
    add_check_options();
  }

  Request parse(int argc, char** argv) {
    check_options_.arguments.assign(argv, argv + argc);
    try {
      app_.parse(argc, argv);
    } catch (const CLI::Success& answer) {
      app_.exit(answer);
      return Answered{ExitCode::passed};
    } catch (const CLI::ParseError& error) {
      throw BadInput(fmt::format("{}; see {} --help", error.what(), name_of_command()));
    }
    insist_on_known_words();
    if (*list_) return list_request();
    if (*doctor_) return doctor_request();
    if (*check_) return check_request();
    fmt::print(stderr, "{}", app_.help());
    return Answered{ExitCode::bad_input};
  }

 private:
  static CLI::Option* add_corpus(CLI::App* command, std::string& corpus) {
    corpus = ASSAY_CORPUS_PATH;
    return command->add_option("--corpus", corpus, "the file of past failures, each tried first")
        ->envname("ASSAY_CORPUS")
        ->type_name("FILE");
  }

  void add_check_options() {
    check_
        ->add_option("VARIANT", check_options_.variants,
                     "names, as `assay list` shows them; else all")
        ->type_name("");
    one_at_a_time(check_->add_option("--backend", check_options_.backends,
                                     "simt, cuda or host, again for more; else all"))
        ->type_name("NAME");
    one_at_a_time(check_->add_option("--claim", check_options_.claims,
                                     "a property, again for more; else all"))
        ->type_name("NAME");
    check_->add_option("--cases", cases_, "judged, for each claim about each variant (100)")
        ->type_name("N");
    check_
        ->add_option("--case", case_text_,
                     "judge exactly this one, by the claims about what a variant accepts")
        ->type_name("TEXT");
    check_->add_option("--seed", seed_, "of the cases that are drawn (0)")->type_name("N");
    check_->add_option("--jobs", jobs_, "at once (one for each core)")->type_name("N");
    check_json_ =
        check_->add_option("--json", check_options_.json, "write the results as JSON; - is stdout")
            ->type_name("FILE");
    check_junit_ = check_
                       ->add_option("--junit", check_options_.junit,
                                    "write the results as JUnit XML; - is stdout")
                       ->type_name("FILE");
    check_corpus_ = add_corpus(check_, check_options_.corpus);
    check_->add_flag("--no-corpus", no_corpus_, "neither try past failures nor keep new ones");
    check_->add_flag("--quiet", check_options_.quiet, "print failures and the verdict only");
    check_->footer(fmt::format("{}\n{}", check_examples, exit_codes));
  }

  const CLI::App* command() const {
    const auto chosen = app_.get_subcommands();
    return chosen.empty() ? &app_ : chosen.front();
  }
  std::string name_of_command() const {
    return command() == &app_ ? "assay" : fmt::format("assay {}", command()->get_name());
  }

  void insist_on_known_words() const {
    auto unknown = app_.remaining(true);
    std::erase(unknown, "--");
    if (unknown.empty()) return;
    const std::string& word = unknown.front();
    if (word.starts_with("-")) {
      std::vector<std::string> flags;
      for (const CLI::Option* option : command()->get_options()) {
        for (const std::string& name : option->get_lnames())
          flags.push_back(fmt::format("--{}", name));
      }
      throw BadInput(fmt::format("there is no flag '{}'{}; see {} --help", word,
                                 suggestion(word, flags), name_of_command()));
    }
    if (command() != &app_) {
      throw BadInput(fmt::format("{} takes no '{}'; see {} --help", name_of_command(), word,
                                 name_of_command()));
    }
    const std::vector<std::string> commands = {"list", "doctor", "check"};
    throw BadInput(fmt::format("there is no command '{}'{}; there are {}", word,
                               suggestion(word, commands), fmt::join(commands, ", ")));
  }

  Request list_request() const {
    insist_on_file_name("--json", list_json_);
    return list_options_;
  }

  Request doctor_request() const {
    insist_on_file_name("--json", doctor_json_);
    insist_on_file_name("--corpus", doctor_corpus_);
    return doctor_options_;
  }

  Request check_request() {
    insist_on_file_name("--json", check_json_);
    insist_on_file_name("--junit", check_junit_);
    insist_on_file_name("--corpus", check_corpus_);
    if (!check_options_.json.empty() && check_options_.json == check_options_.junit)
      throw BadInput(fmt::format("--json and --junit both name {}", check_options_.json));
    check_options_.cases = number_of("--cases", cases_, 1, 1000000);
    check_options_.seed = number_of<std::uint64_t>("--seed", seed_, 0, UINT64_MAX);
    check_options_.jobs = number_of("--jobs", jobs_, 0, 1024);
    if (check_->count("--case") > 0) check_options_.case_text = case_text_;
    check_options_.use_corpus = !no_corpus_;
    return check_options_;
  }

  ListOptions list_options_;
  DoctorOptions doctor_options_;
  CheckOptions check_options_;

  CLI::App app_{"Says whether hand-written CUDA GEMM kernels are right."};
  CLI::App* list_ = app_.add_subcommand(
      "list", "what is registered, what each variant needs, where it can run here");
  CLI::App* doctor_ = app_.add_subcommand("doctor", "what this machine can and cannot do, and why");
  CLI::App* check_ = app_.add_subcommand("check", "judges variants: right or wrong");
  CLI::Option *list_json_, *doctor_json_, *doctor_corpus_;
  CLI::Option *check_json_, *check_junit_, *check_corpus_;
  std::string cases_ = "100", seed_ = "0", jobs_ = "0", case_text_;
  bool no_corpus_ = false;
};

}  // namespace

Request parse_command_line(int argc, char** argv) {
  return CommandLine().parse(argc, argv);
}

}  // namespace assay
