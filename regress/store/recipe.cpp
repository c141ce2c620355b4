#include "regress/store/recipe.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/text.h"

namespace assay {
namespace {

// "64", "8x8" or "1x1x2", without the ones at the end.
std::string brief(const std::array<unsigned, 3>& size) {
  std::string text = fmt::to_string(size[0]);
  if (size[1] != 1 || size[2] != 1) text += fmt::format("x{}", size[1]);
  if (size[2] != 1) text += fmt::format("x{}", size[2]);
  return text;
}
std::string brief(const std::string& hash) { return hash.substr(0, 8); }
std::string brief(bool yes) { return yes ? "yes" : "no"; }
template <class Number>
std::string brief(Number number) requires std::is_arithmetic_v<Number> {
  return fmt::to_string(number);
}
std::string brief(Operand operand) { return to_string(operand, 0); }
std::string brief(const std::vector<Parameter>& parameters) { return to_string(parameters); }

class Differences {
 public:
  explicit Differences(std::string of) : of_(std::move(of)) {}

  template <class Value>
  void compare(const char* name, const Value& before, const Value& now) {
    if (before == now) return;
    all_.push_back(fmt::format("{}{} {} -> {}", of_, name, brief(before), brief(now)));
  }
  void add(const std::string& text) { all_.push_back(of_ + text); }
  const std::vector<std::string>& all() const { return all_; }

 private:
  std::string of_;
  std::vector<std::string> all_;
};

// What the word of arguments at an offset holds.
std::string word(const KernelNode& node, std::size_t at) {
  for (const Pointer& p : node.pointers) {
    if (p.at == at) return to_string(p.operand, p.displacement);
  }
  std::string digits;
  for (std::size_t i = at; i < std::min(at + 8, node.arguments.size()); ++i) {
    digits.insert(0, fmt::format("{:02x}", node.arguments[i]));
  }
  return digits.empty() ? "nothing" : "0x" + digits;
}

// Only the first word that differs is shown.
void compare_arguments(Differences& differences, const KernelNode& before, const KernelNode& now) {
  if (before.arguments == now.arguments && in_order(before.pointers) == in_order(now.pointers)) {
    return;
  }
  differences.compare("bytes of arguments", before.arguments.size(), now.arguments.size());
  const std::size_t end = std::max(before.arguments.size(), now.arguments.size());
  std::optional<std::size_t> first;
  std::size_t count = 0;
  for (std::size_t at = 0; at < end; at += 8) {
    if (word(before, at) == word(now, at)) continue;
    if (!first) first = at;
    ++count;
  }
  if (!first) return differences.add("where the arguments hold pointers");
  const std::string more = count == 1 ? "" : fmt::format(" and {} more", count - 1);
  differences.add(fmt::format("argument at byte {} {} -> {}{}", *first, word(before, *first),
                              word(now, *first), more));
}

void compare_nodes(Differences& differences, const KernelNode& before, const KernelNode& now) {
  differences.compare("machine code", before.code, now.code);
  differences.compare("grid", before.grid, now.grid);
  differences.compare("block", before.block, now.block);
  differences.compare("cluster", before.cluster, now.cluster);
  differences.compare("dynamic shared bytes", before.shared_bytes, now.shared_bytes);
  differences.compare("limit of dynamic shared bytes", before.most_shared_bytes,
                      now.most_shared_bytes);
  differences.compare("preferred shared memory in percent", before.shared_carveout,
                      now.shared_carveout);
  differences.compare("cooperative", before.cooperative, now.cooperative);
  differences.compare("starts early", before.starts_early, now.starts_early);
  differences.compare("parameters", before.parameters, now.parameters);
  compare_arguments(differences, before, now);
}

void compare_nodes(Differences& differences, const MemsetNode& before, const MemsetNode& now) {
  differences.compare("memset of", before.operand, now.operand);
  differences.compare("displacement", before.displacement, now.displacement);
  differences.compare("value", before.value, now.value);
  differences.compare("bytes of an element", before.element_bytes, now.element_bytes);
  differences.compare("width", before.width, now.width);
  differences.compare("height", before.height, now.height);
  differences.compare("pitch", before.pitch, now.pitch);
}

}  // namespace

std::string to_string(const std::vector<Parameter>& parameters) {
  std::vector<std::string> words;
  for (const Parameter& p : parameters) words.push_back(fmt::format("{}+{}", p.at, p.bytes));
  return joined(words, " ");
}

std::string to_string(Operand operand, std::int64_t displacement) {
  const char* const name = operand == Operand::workspace ? "workspace" : to_string(operand);
  return displacement == 0 ? name : fmt::format("{}{:+}", name, displacement);
}

std::vector<Pointer> in_order(std::vector<Pointer> pointers) {
  std::ranges::sort(pointers, {}, &Pointer::at);
  return pointers;
}

bool same_launch(const Recipe& before, const Recipe& now) {
  return difference(before, now).empty();
}

std::string difference(const Recipe& before, const Recipe& now) {
  Differences differences("");
  differences.compare("steps", before.nodes.size(), now.nodes.size());
  differences.compare("bytes of workspace", before.workspace_bytes, now.workspace_bytes);
  std::vector<std::string> all = differences.all();
  const std::size_t count = std::min(before.nodes.size(), now.nodes.size());
  for (std::size_t i = 0; i < count; ++i) {
    Differences here(before.nodes.size() == 1 ? "" : fmt::format("step {}: ", i + 1));
    if (before.nodes[i].index() != now.nodes[i].index()) {
      here.add(std::holds_alternative<MemsetNode>(now.nodes[i]) ? "a kernel -> a memset"
                                                                : "a memset -> a kernel");
    } else {
      std::visit(
          [&](const auto& node) {
            compare_nodes(here, node, std::get<std::decay_t<decltype(node)>>(now.nodes[i]));
          },
          before.nodes[i]);
    }
    all.insert(all.end(), here.all().begin(), here.all().end());
  }
  return joined(all);
}

}  // namespace assay
