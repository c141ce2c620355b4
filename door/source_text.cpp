#include "door/source_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <vector>

#include "base/text.h"

namespace assay {
namespace {

struct Parameter {
  std::string type, name;
  bool is(const char* what) const { return type.find(what) != type.npos; }
};

struct Function {
  std::string name;
  bool is_template = false;
  std::vector<Parameter> parameters;
  bool takes(const char* type) const {
    return std::any_of(parameters.begin(), parameters.end(),
                       [&](const Parameter& parameter) { return parameter.is(type); });
  }
};

// With blanks for comments and for what is in quotes.
std::string code_of(const std::string& text) {
  std::string code = text;
  for (std::size_t i = 0; i < code.size();) {
    std::size_t end = i;
    if (code.compare(i, 2, "//") == 0) {
      end = std::min(code.find('\n', i), code.size());
    } else if (code.compare(i, 2, "/*") == 0) {
      end = std::min(code.find("*/", i + 2), code.size() - 2) + 2;
    } else if (code[i] == '"') {
      for (end = i + 1; end < code.size() && code[end] != '"'; ++end) end += code[end] == '\\';
      end = std::min(end + 1, code.size());
    }
    if (end == i) {
      ++i;
    } else {
      for (; i < end; ++i) code[i] = code[i] == '\n' ? '\n' : ' ';
    }
  }
  return code;
}

bool is_of_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string word_before(const std::string& code, std::size_t end) {
  while (end > 0 && !is_of_word(code[end - 1])) --end;
  std::size_t begin = end;
  while (begin > 0 && is_of_word(code[begin - 1])) --begin;
  return code.substr(begin, end - begin);
}

// Where the bracket or brace that opens there is closed.
std::size_t end_of_brackets(const std::string& code, std::size_t open) {
  if (open >= code.size()) return code.size();
  const char opens = code[open], closes = opens == '(' ? ')' : '}';
  int depth = 0;
  for (std::size_t i = open; i < code.size(); ++i) {
    depth += code[i] == opens ? 1 : code[i] == closes ? -1 : 0;
    if (depth == 0) return i;
  }
  return code.size();
}

// What stands before a function's name: `static`, `__global__`, `template <int N>`.
std::string before_function(const std::string& code, std::size_t at) {
  std::size_t begin = at;
  while (begin > 0 && std::string_view(";{}#").find(code[begin - 1]) == std::string::npos) --begin;
  return code.substr(begin, at - begin);
}

std::vector<Parameter> parameters_in(const std::string& list) {
  std::vector<Parameter> parameters;
  int depth = 0;
  std::string one;
  for (const char c : list + ",") {
    depth += c == '<' || c == '(' ? 1 : c == '>' || c == ')' ? -1 : 0;
    if (c != ',' || depth > 0) {
      one += c;
      continue;
    }
    one = one.substr(0, one.find('='));
    const std::string name = word_before(one, one.size());
    if (!name.empty()) parameters.push_back({one.substr(0, one.rfind(name)), name});
    one.clear();
  }
  return parameters;
}

bool calls(const std::string& body, const std::string& name) {
  for (std::size_t at = 0; (at = body.find(name + "(", at)) != body.npos; ++at)
    if (at == 0 || !is_of_word(body[at - 1])) return true;
  return false;
}

// Functions of the host that launch kernels and are given three matrices, but for those that
// another one calls.
std::vector<Function> launchers_in(const std::string& code) {
  std::vector<Function> launchers;
  std::vector<std::string> bodies;
  for (std::size_t open = 0; (open = code.find('(', open)) != code.npos; ++open) {
    const std::string name = word_before(code, open);
    const std::size_t close = end_of_brackets(code, open),
                      body = code.find_first_not_of(" \t\r\n", close + 1);
    if (name.empty() || body == code.npos || code[body] != '{') continue;
    const std::string before = before_function(code, open - name.size());
    const std::size_t end = end_of_brackets(code, body);
    std::string inside = code.substr(body, end - body);
    Function function{name, before.find("template") != before.npos,
                      parameters_in(code.substr(open + 1, close - open - 1))};
    const auto pointers = std::count_if(function.parameters.begin(), function.parameters.end(),
                                        [](const Parameter& one) { return one.is("*"); });
    if (pointers < 3 || before.find("__") != before.npos) continue;
    if (inside.find("<<<") == inside.npos && inside.find("cudaLaunch") == inside.npos) continue;
    launchers.push_back(std::move(function));
    bodies.push_back(std::move(inside));
  }
  std::erase_if(launchers, [&](const Function& one) {
    return one.is_template || std::any_of(bodies.begin(), bodies.end(),
                                          [&](const std::string& b) { return calls(b, one.name); });
  });
  return launchers;
}

std::vector<Function> kernels_in(const std::string& code) {
  constexpr std::string_view opening = "__global__";
  std::vector<Function> kernels;
  for (std::size_t at = 0; (at = code.find(opening, at)) != code.npos; at += opening.size()) {
    std::size_t open = code.find('(', at),
                close = end_of_brackets(code, std::min(open, code.size()));
    if (open == code.npos) break;
    if (word_before(code, open) == "__launch_bounds__") {
      open = code.find('(', close), close = end_of_brackets(code, std::min(open, code.size()));
      if (open == code.npos) break;
    }
    const std::size_t last =
        std::max({code.rfind(';', at) + 1, code.rfind('}', at) + 1, std::size_t{0}});
    const bool is_template = code.substr(last, at - last).find("template") != std::string::npos;
    Function kernel{word_before(code, open), is_template,
                    parameters_in(code.substr(open + 1, close - open - 1))};
    const bool known = std::any_of(kernels.begin(), kernels.end(), [&](const Function& other) {
      return other.name == kernel.name;
    });
    if (!known && !kernel.name.empty()) kernels.push_back(std::move(kernel));
  }
  return kernels;
}

struct Call {
  std::string arguments, needs;
};

// What to give for each parameter: by its name where that says it, else by its type and turn. What
// there is no parameter for, it needs to be as it takes it.
Call call_of(const Function& function) {
  std::vector<std::string> sizes = {"m", "n", "k", "lda", "ldb", "ldc"},
                           scalars = {"alpha", "beta"}, operands = {"a", "b", "c"}, arguments;
  const auto next_of = [](std::vector<std::string>& known, const Parameter& parameter) {
    std::string lower = parameter.name;
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    auto found = std::find_if(known.begin(), known.end(), [&](const std::string& one) {
      return lower == one || lower == "d_" + one || lower == "d" + one;
    });
    if (found == known.end()) found = known.begin();
    if (found == known.end()) return fmt::format("/* {} */", parameter.name);
    const std::string chosen = *found;
    known.erase(found);
    return chosen;
  };
  for (const Parameter& parameter : function.parameters) {
    if (parameter.is("cudaStream_t")) {
      arguments.emplace_back("stream");
      continue;
    }
    const bool is_scalar = parameter.is("float") || parameter.is("double") || parameter.is("half");
    arguments.push_back(next_of(parameter.is("*") ? operands
                                : is_scalar       ? scalars
                                                  : sizes,
                                parameter));
  }
  const auto is_left = [](const std::vector<std::string>& known, const char* name) {
    return std::find(known.begin(), known.end(), name) != known.end();
  };
  std::vector<std::string> needs;
  if (is_left(sizes, "lda") && is_left(sizes, "ldc") && !is_left(sizes, "n"))
    needs.emplace_back(".packed = true");
  if (is_left(scalars, "alpha")) needs.emplace_back(".alpha_one = true");
  if (is_left(scalars, "beta")) needs.emplace_back(".beta_zero = true");
  if (function.parameters.empty()) needs.clear();
  return {joined(arguments), needs.empty() ? "" : fmt::format(", Needs{{{}}}", joined(needs))};
}

}  // namespace

std::string lines_to_add(const std::string& file, const std::string& text) {
  constexpr std::size_t most = 3;
  const std::string code = code_of(text);
  std::vector<Function> functions = launchers_in(code);
  const bool launch = !functions.empty();
  if (!launch) functions = kernels_in(code);
  const bool has_none = functions.empty();
  if (has_none) functions.push_back({"mine", false, {}});
  if (functions.size() > most) functions.resize(most);
  const std::filesystem::path path(file);
  std::string lines =
      fmt::format("// {}_assay{}, beside it:\n#include \"assay.h\"\n#include \"{}\"\n",
                  path.stem().string(), path.extension().string(), path.filename().string());
  if (has_none)
    lines += "// it has no __global__ function: `mine` stands for what launches yours\n";
  for (const Function& function : functions) {
    const bool lacks_stream = launch && !function.takes("cudaStream_t");
    const Call call = call_of(function);
    lines += fmt::format(
        "ASSAY_VARIANT({0}, \"one sentence on its idea\"{4}{5}) {{\n"
        "  {0}{1}{2}({3});\n"
        "}}\n",
        function.name, function.is_template ? "</* ... */>" : "",
        launch ? "" : "<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16), 0, stream>>>",
        call.arguments, call.needs, lacks_stream ? ", Stream::legacy" : "");
  }
  return lines;
}

}  // namespace assay
