#include "cli/flags.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "base/errors.h"
#include "base/suggestion.h"

namespace assay {
namespace {

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

// Whatever they are called, and whether they exist yet or not. "-" is no file.
bool is_same_file(const std::string& one, const std::string& other) {
  if (one == other) return true;
  if (one.empty() || other.empty() || one == "-" || other == "-") return false;
  namespace fs = std::filesystem;
  std::error_code error;
  if (fs::equivalent(one, other, error)) return true;
  const fs::path place = fs::weakly_canonical(fs::absolute(one, error), error);
  return !place.empty() && place == fs::weakly_canonical(fs::absolute(other, error), error);
}

}  // namespace

Command::Command(CLI::App& program, const char* name, const char* purpose)
    : app_(*program.add_subcommand(name, purpose)) {
  app_.allow_extras();
}

Request Command::request(const std::vector<std::string>& arguments) {
  for (const auto& check : checks_) check();
  for (auto one = results_.begin(); one != results_.end(); ++one) {
    for (auto other = one + 1; other != results_.end(); ++other) {
      if (!one->second->empty() && is_same_file(*one->second, *other->second)) {
        throw BadInput(
            fmt::format("{} and {} both name {}", one->first, other->first, *one->second));
      }
    }
  }
  return finish(arguments);
}

void Command::words(const char* name, std::vector<std::string>& values, const char* meaning) {
  app_.add_option(name, values, meaning)->type_name("");
}

void Command::flag(const char* name, bool& value, const char* meaning) {
  app_.add_flag(name, value, meaning);
}

CLI::Option* Command::text(const char* name, std::string& value, const char* type,
                           const char* meaning) {
  return app_.add_option(name, value, meaning)->type_name(type);
}

void Command::text(const char* name, std::optional<std::string>& value, const char* type,
                   const char* meaning) {
  app_.add_option(name, value, meaning)->type_name(type);
}

void Command::texts(const char* name, std::vector<std::string>& values, const char* type,
                    const char* meaning) {
  app_.add_option(name, values, meaning)->allow_extra_args(false)->type_name(type);
}

CLI::Option* Command::file(const char* name, std::string& value, const char* meaning) {
  CLI::Option* option = text(name, value, "FILE", meaning);
  checks_.push_back([=] { insist_on_file_name(name, option); });
  return option;
}

void Command::result(const char* name, std::string& value, const char* meaning) {
  file(name, value, meaning);
  results_.emplace_back(name, &value);
}

void Command::corpus(std::string& value) {
  value = ASSAY_CORPUS_PATH;
  file("--corpus", value, "the file of past failures, each tried first")->envname("ASSAY_CORPUS");
}

template <class Number>
void Command::whole(const char* name, Number& value, Number least, Number most,
                    const std::string& meaning) {
  const CLI::Option* option = app_.add_option(name, meaning)->type_name("N")->expected(1);
  checks_.push_back([=, &value] {
    if (option->count() > 0) value = number_of(name, option->results().back(), least, most);
  });
}

void Command::number(const char* name, int& value, int least, int most, const char* meaning) {
  whole(name, value, least, most, meaning);
}

void Command::number(const char* name, std::uint64_t& value, const char* meaning) {
  whole<std::uint64_t>(name, value, 0, UINT64_MAX, meaning);
}

void Command::subject(const std::vector<std::string>& known, const char* meaning) {
  app_.add_option("WHAT", subject_, meaning)->type_name("");
  checks_.push_back([this, known] {
    if (std::find(known.begin(), known.end(), subject_) != known.end()) return;
    const std::string name = app_.get_name();
    if (subject_.empty()) {
      throw BadInput(fmt::format("assay {} what? there is {}, as in `assay {} {}`", name,
                                 fmt::join(known, ", "), name, known.front()));
    }
    throw BadInput(fmt::format("there is no 'assay {} {}'{}; there is {}", name, subject_,
                               suggestion(subject_, known), fmt::join(known, ", ")));
  });
}

}  // namespace assay
