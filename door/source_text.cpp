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

struct Kernel {
  std::string name;
  bool is_template = false;
  std::vector<Parameter> parameters;
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

// Where the bracket that opens there is closed.
std::size_t end_of_brackets(const std::string& code, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < code.size(); ++i) {
    depth += code[i] == '(' ? 1 : code[i] == ')' ? -1 : 0;
    if (depth == 0) return i;
  }
  return code.size();
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

std::vector<Kernel> kernels_in(const std::string& code) {
  constexpr std::string_view opening = "__global__";
  std::vector<Kernel> kernels;
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
    Kernel kernel{word_before(code, open), is_template,
                  parameters_in(code.substr(open + 1, close - open - 1))};
    const bool known = std::any_of(kernels.begin(), kernels.end(),
                                   [&](const Kernel& other) { return other.name == kernel.name; });
    if (!known && !kernel.name.empty()) kernels.push_back(std::move(kernel));
  }
  return kernels;
}

// What to give for each parameter: by its name where that says it, else by its type and turn.
std::string arguments_for(const Kernel& kernel) {
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
  for (const Parameter& parameter : kernel.parameters) {
    const bool is_scalar = parameter.is("float") || parameter.is("double") || parameter.is("half");
    arguments.push_back(next_of(parameter.is("*") ? operands
                                : is_scalar       ? scalars
                                                  : sizes,
                                parameter));
  }
  return joined(arguments);
}

}  // namespace

std::string lines_to_add(const std::string& file, const std::string& text) {
  constexpr std::size_t most = 3;
  std::vector<Kernel> kernels = kernels_in(code_of(text));
  const bool has_none = kernels.empty();
  if (has_none) kernels.push_back({"mine", false, {}});
  if (kernels.size() > most) kernels.resize(most);
  const std::filesystem::path path(file);
  std::string lines =
      fmt::format("// {}_assay{}, beside it:\n#include \"assay.h\"\n#include \"{}\"\n",
                  path.stem().string(), path.extension().string(), path.filename().string());
  if (has_none)
    lines += "// it has no __global__ function: `mine` stands for what launches yours\n";
  for (const Kernel& kernel : kernels) {
    lines += fmt::format(
        "ASSAY_VARIANT({0}, \"one sentence on its idea\") {{\n"
        "  {0}{1}<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16), 0, stream>>>({2});\n"
        "}}\n",
        kernel.name, kernel.is_template ? "</* ... */>" : "", arguments_for(kernel));
  }
  return lines;
}

}  // namespace assay
