#include "ptx/reader/places.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "ptx/reader/constants.h"

namespace ptx {
namespace {

constexpr std::uint64_t most = std::numeric_limits<int>::max();

// Without the backslashes before quotes and backslashes, and with the bytes that "\303" stands for.
std::string unescaped(std::string_view text) {
  const auto is_octal = [](char c) { return c >= '0' && c <= '7'; };
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view three = text.substr(i + 1, 3);
    if (text[i] == '\\' && three.size() == 3 && std::all_of(three.begin(), three.end(), is_octal)) {
      plain += static_cast<char>((three[0] - '0') * 64 + (three[1] - '0') * 8 + three[2] - '0');
      i += 3;
      continue;
    }
    const std::string_view two = text.substr(i, 2);
    if (two == "\\\"" || two == "\\\\") ++i;
    plain += text[i];
  }
  return plain;
}

}  // namespace

// .file 1 "naive.cu", or with the time and size of the file behind it
void Places::read_file(Lexer& in) {
  const std::uint64_t number = read_count(in, "the number of a file", most);
  files_[number] = unescaped(in.expect(Token::Kind::text, "the name of a file in quotes").text);
  while (in.accept(",")) read_integer(in);
}

// .loc 2 112 3, function_name $L__info_string0, inlined_at 1 19 3
int Places::read_loc(Lexer& in) {
  const int line = in.next().line;
  const auto read_spot = [&](Loc& loc) {
    loc.file = read_count(in, "the number of a file", most);
    loc.line = read_count(in, "the number of a line", most);
    loc.column = read_count(in, "the number of a column", most);
  };
  Loc loc;
  read_spot(loc);
  while (in.accept(",")) {
    if (in.accept("function_name")) {
      loc.function = in.expect(Token::Kind::word, "a label").text;
      loc.function_at = static_cast<std::uint64_t>(read_offset(in));
    } else {
      if (!in.accept("inlined_at")) in.fail_expecting("'function_name' or 'inlined_at'");
      Loc caller;
      read_spot(caller);
      const auto known = latest_.find({caller.file, caller.line, caller.column});
      loc.called_from = known != latest_.end() ? known->second : add(caller, line);
    }
  }
  const int place = add(loc, line);
  latest_[{loc.file, loc.line, loc.column}] = place;
  return place;
}

int Places::add(const Loc& loc, int line) {
  const auto [known, is_new] = known_.emplace(loc, static_cast<int>(locs_.size()));
  if (is_new) locs_.emplace_back(loc, line);
  return known->second;
}

void Places::read_section(Lexer& in) {
  const Token name = in.take();
  if (name.text == ".debug_str") return read_strings(in);
  in.skip_block();
}

void Places::read_strings(Lexer& in) {
  in.expect("{");
  while (!in.accept("}")) {
    if (in.at(Token::Kind::word)) {
      string_labels_[in.take().text] = strings_.size();
      in.expect(":");
      continue;
    }
    if (!in.at(".b8")) in.fail_expecting("'.b8', a label or '}'");
    do {
      in.take();
      strings_ += static_cast<char>(read_count(in, "a byte", 255));
    } while (in.at(","));
  }
}

void Places::finish(Module& module) {
  for (std::size_t i = module.places.size(); i < locs_.size(); ++i) {
    const auto& [loc, line] = locs_[i];
    const auto file = files_.find(loc.file);
    if (file == files_.end())
      Lexer::fail_at(line, fmt::format(".loc names file {}, which no .file declares", loc.file));
    const auto [index, is_new] = indices_.emplace(loc.file, static_cast<int>(module.files.size()));
    if (is_new) module.files.push_back(file->second);
    module.places.push_back(
        {index->second, static_cast<int>(loc.line), loc.called_from, function_of(loc)});
  }
}

std::string Places::function_of(const Loc& loc) const {
  const auto label = string_labels_.find(loc.function);
  if (label == string_labels_.end()) return {};
  const std::uint64_t begin = label->second + loc.function_at;
  if (begin < label->second || begin >= strings_.size()) return {};
  return strings_.substr(begin, strings_.find('\0', begin) - begin);
}

}  // namespace ptx
