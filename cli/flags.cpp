#include "cli/flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <utility>

#include "base/errors.h"
#include "base/project.h"
#include "base/suggestion.h"
#include "base/text.h"

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

void refuse_flag_as_file(const char* flag, const CLI::Option* option) {
  for (const std::string& name : option->results()) {
    if (name.empty() || name.starts_with("--"))
      throw BadInput(fmt::format("{} takes the name of a file, not '{}'", flag, name));
  }
}

// Under any two names, and whether or not it exists yet. "-" is no file.
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

struct Flags::Parser {
  Parser(const std::string& command, const std::string& purpose) : app(purpose, command) {
    app.allow_extras();
  }

  CLI::Option* file(const char* name, std::string& value, const char* meaning) {
    CLI::Option* option = app.add_option(name, value, meaning)->type_name("FILE");
    checks.push_back([=] { refuse_flag_as_file(name, option); });
    return option;
  }

  CLI::App app;
  std::string subject;
  std::vector<std::function<void()>> checks;  // of values, once every word is known
  std::vector<std::pair<const char*, const std::string*>> results;
  std::vector<std::string>* command_line = nullptr;  // where to keep it
};

Flags::Flags(const std::string& command, const std::string& purpose)
    : parser_(std::make_unique<Parser>(command, purpose)) {}

Flags::~Flags() = default;

void Flags::subject(const std::vector<std::string>& known) {
  parser_->app.add_option("WHAT", parser_->subject, joined(known))->type_name("");
  parser_->checks.push_back([this, known] {
    const std::string &subject = parser_->subject, command = parser_->app.get_name();
    if (std::find(known.begin(), known.end(), subject) != known.end()) return;
    if (subject.empty()) {
      throw BadInput(fmt::format("{0} what? there is {1}, as in `{0} {2}`", command, joined(known),
                                 known.front()));
    }
    throw BadInput(fmt::format("there is no '{} {}'{}; there is {}", command, subject,
                               suggestion(subject, known), joined(known)));
  });
}

void Flags::words(const char* name, std::vector<std::string>& values, const char* meaning) {
  parser_->app.add_option(name, values, meaning)->type_name("");
}

void Flags::flag(const char* name, bool& value, const char* meaning) {
  parser_->app.add_flag(name, value, meaning);
}

void Flags::text(const char* name, std::string& value, const char* type, const char* meaning) {
  parser_->app.add_option(name, value, meaning)->type_name(type);
}

void Flags::text(const char* name, std::optional<std::string>& value, const char* type,
                 const char* meaning) {
  parser_->app.add_option(name, value, meaning)->type_name(type);
}

void Flags::texts(const char* name, std::vector<std::string>& values, const char* type,
                  const char* meaning) {
  parser_->app.add_option(name, values, meaning)->allow_extra_args(false)->type_name(type);
}

template <class Number>
void Flags::whole(const char* name, Number& value, Number least, Number most,
                  const std::string& meaning) {
  const auto* option = parser_->app.add_option(name, meaning)->type_name("N")->expected(1);
  parser_->checks.push_back([=, &value] {
    if (option->count() > 0) value = number_of(name, option->results().back(), least, most);
  });
}

void Flags::number(const char* name, int& value, int least, int most, const char* meaning) {
  whole(name, value, least, most, meaning);
}

void Flags::number(const char* name, std::uint64_t& value, const char* meaning) {
  whole<std::uint64_t>(name, value, 0, UINT64_MAX, meaning);
}

void Flags::result(const char* name, std::string& value, const char* meaning) {
  parser_->file(name, value, meaning);
  for (const auto& [other_name, other] : parser_->results) {
    parser_->checks.push_back([=, &value, other_name = other_name, other = other] {
      if (!other->empty() && is_same_file(*other, value))
        throw BadInput(fmt::format("{} and {} both name {}", other_name, name, *other));
    });
  }
  parser_->results.emplace_back(name, &value);
}

void Flags::corpus(std::string& value) {
  value = project().corpus;
  parser_->file("--corpus", value, "the file of past failures, which are tried first")
      ->envname("ASSAY_CORPUS");
}

void Flags::exclude(const char* one, const char* other, const char* why) {
  parser_->checks.push_back([=, &app = parser_->app] {
    if (app.count(one) > 0 && app.count(other) > 0) throw BadInput(why);
  });
}

void Flags::keep_all(std::vector<std::string>& command_line) {
  parser_->command_line = &command_line;
}

void Flags::footer(const std::string& text) { parser_->app.footer(text); }

bool Flags::read(const std::vector<std::string>& command_line) {
  CLI::App& app = parser_->app;
  try {
    app.parse(std::vector<std::string>(command_line.rbegin(), command_line.rend() - 2));
  } catch (const CLI::CallForHelp&) {
    std::fputs(app.help().c_str(), stdout);
    return false;
  } catch (const CLI::ParseError& error) {
    throw BadInput(fmt::format("{}; see {} --help", error.what(), app.get_name()));
  }
  refuse_unknown_words();
  for (const auto& check : parser_->checks) check();
  if (parser_->command_line != nullptr) *parser_->command_line = command_line;
  return true;
}

void Flags::refuse_unknown_words() const {
  const CLI::App& app = parser_->app;
  auto unknown = app.remaining();
  std::erase(unknown, "--");
  if (unknown.empty()) return;
  const std::string &word = unknown.front(), command = app.get_name();
  if (!word.starts_with("-"))
    throw BadInput(fmt::format("{0} takes no '{1}'; see {0} --help", command, word));
  std::vector<std::string> flags;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  }
  throw BadInput(fmt::format("there is no flag '{}'{}; see {} --help", word,
                             suggestion(word, flags), command));
}

}  // namespace assay
