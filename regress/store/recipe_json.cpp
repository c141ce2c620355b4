#include "regress/store/recipe_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

#include "base/errors.h"
#include "base/strict_json.h"

namespace assay {
namespace {

constexpr std::size_t word_bytes = 8;
constexpr std::int64_t largest_int = std::numeric_limits<int>::max();
constexpr std::int64_t largest_size = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t largest_block = 32768;  // bytes: what a launch may pass, and more

template <class Number>
bool parse_whole(std::string_view text, Number& number, int base = 10) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return error == std::errc() && end == text.data() + text.size();
}

std::string text_of(const std::array<unsigned, 3>& size) {
  return fmt::format("{}x{}x{}", size[0], size[1], size[2]);
}

// "64x4x1"
std::array<unsigned, 3> size_of(const Field& field) {
  const std::string text = field.text();
  std::array<unsigned, 3> size = {};
  std::string_view rest = text;
  bool good = true;
  for (unsigned& length : size) {
    const auto end = std::min(rest.size(), rest.find('x'));
    good = good && parse_whole(rest.substr(0, end), length) && length >= 1 && length <= largest_int;
    rest.remove_prefix(std::min(rest.size(), end + 1));
  }
  if (!good || text_of(size) != text) {
    field.refuse(fmt::format("'{}' should be three numbers from 1 on, such as 64x4x1", text));
  }
  return size;
}

// Refuses what no GPU can launch: a length over `most`, or more than `in_all`.
void check_size(const Field& field, const std::array<unsigned, 3>& size,
                const std::array<unsigned, 3>& most, std::uint64_t in_all = 0) {
  bool fits = true;
  std::uint64_t product = 1;
  for (std::size_t i = 0; i < size.size() && fits; ++i) {
    fits = size[i] <= most[i];
    if (in_all > 0) product *= size[i];
  }
  if (!fits) field.refuse(fmt::format("'{}' is more than {}", field.text(), text_of(most)));
  if (in_all > 0 && product > in_all)
    field.refuse(fmt::format("'{}' is more than {} in all", field.text(), in_all));
}

void check_launch(const Field& field, const KernelNode& node) {
  check_size(field["grid"], node.grid, {largest_int, 65535, 65535});
  check_size(field["block"], node.block, {1024, 1024, 64}, 1024);
  check_size(field["cluster"], node.cluster, {16, 16, 16}, 16);
  for (std::size_t i = 0; i < node.grid.size(); ++i) {
    if (node.grid[i] % node.cluster[i] != 0) {
      field["cluster"].refuse(fmt::format("'{}' does not divide the grid {}", text_of(node.cluster),
                                          text_of(node.grid)));
    }
  }
}

// "A", "B+64" or "C-8"
std::optional<Pointer> pointer_in(std::string_view text) {
  for (Operand operand : operands_and_workspace) {
    const std::string name = to_string(operand, 0);
    if (!text.starts_with(name)) continue;
    Pointer pointer{.operand = operand};
    std::string_view rest = text.substr(name.size());
    if (rest.starts_with('+')) rest.remove_prefix(1);
    if (!rest.empty() && !parse_whole(rest, pointer.displacement)) return std::nullopt;
    if (to_string(operand, pointer.displacement) == text) return pointer;
  }
  return std::nullopt;
}

// The largest that an offset can have. A device keeps arguments from some multiple of 16 on, which
// may be none of more: a tensor map, aligned to 64 bytes there, is at 112 of its block on sm_90.
std::uint32_t alignment_of(std::uint32_t at) { return at % 16 == 0 ? 128 : at & ~(at - 1); }

std::vector<Parameter> parameters_of(const Field& field, std::size_t block) {
  const std::string text = field.text();
  std::vector<Parameter> parameters;
  std::uint32_t end_so_far = 0;
  const auto leaves_out = [&](std::uint32_t byte) {
    field.refuse(
        fmt::format("'{}' leaves out byte {} of the {} bytes of arguments", text, byte, block));
  };
  for (std::string_view rest = text; !rest.empty();) {
    const auto end = std::min(rest.size(), rest.find(' '));
    const std::string_view word = rest.substr(0, end);
    const auto plus = std::min(word.size(), word.find('+'));
    Parameter p;
    if (!parse_whole(word.substr(0, plus), p.at) ||
        !parse_whole(word.substr(std::min(word.size(), plus + 1)), p.bytes) || p.bytes == 0) {
      field.refuse(fmt::format("'{}' should be where it begins and its bytes, such as 0+88", word));
    }
    if (std::uint64_t{p.at} + p.bytes > block) {
      field.refuse(fmt::format("'{}' lies outside of the {} bytes of arguments", word, block));
    }
    if (p.at < end_so_far) field.refuse(fmt::format("'{}' overlaps what is before", word));
    // Between two there is at most what aligns the second.
    if (p.at - end_so_far >= alignment_of(p.at) && p.at > end_so_far) leaves_out(end_so_far);
    end_so_far = p.at + p.bytes;
    parameters.push_back(p);
    rest.remove_prefix(std::min(rest.size(), end + 1));
  }
  if (to_string(parameters) != text)
    field.refuse("expected parameters with one blank between them");
  if (end_so_far != block) leaves_out(end_so_far);
  return parameters;
}

// The block is cut at each pointer and where the next word begins.
Json words_of(const KernelNode& node) {
  Json words = Json::array();
  const std::vector<Pointer> pointers = in_order(node.pointers);
  auto next = pointers.begin();
  for (std::size_t at = 0; at < node.arguments.size() || next != pointers.end();) {
    if (next != pointers.end() && next->at == at && at + word_bytes <= node.arguments.size()) {
      words.push_back(to_string(next->operand, next->displacement));
      at += word_bytes;
      ++next;
      continue;
    }
    std::size_t end = std::min(node.arguments.size(), (at / word_bytes + 1) * word_bytes);
    if (next != pointers.end()) end = std::min<std::size_t>(end, next->at);
    if (end <= at) throw BadInput("a pointer overlaps another one, or lies outside of its block");
    std::string digits;
    for (std::size_t i = at; i < end; ++i) {
      digits.insert(0, fmt::format("{:02x}", node.arguments[i]));
    }
    words.push_back("0x" + digits);
    at = end;
  }
  return words;
}

void read_words(const Field& field, KernelNode& node) {
  for (const Field& word : field.items()) {
    const std::string text = word.text();
    const std::size_t at = node.arguments.size();
    if (std::optional<Pointer> pointer = pointer_in(text)) {
      pointer->at = static_cast<std::uint32_t>(at);
      node.pointers.push_back(*pointer);
      node.arguments.resize(at + word_bytes);
    } else {
      std::uint64_t number = 0;
      const std::size_t digits = text.size() < 2 ? 0 : text.size() - 2;
      const bool has_upper = text.find_first_not_of("0123456789abcdefx") != text.npos;
      if (!text.starts_with("0x") || has_upper || digits == 0 || digits % 2 != 0 ||
          digits > 2 * word_bytes || !parse_whole(std::string_view(text).substr(2), number, 16)) {
        word.refuse(fmt::format(
            "'{}' should be up to eight bytes such as 0x3f800000, or A, B, C or workspace with a "
            "displacement",
            text));
      }
      for (std::size_t i = 0; i < digits / 2; ++i) {
        node.arguments.push_back(static_cast<std::uint8_t>(number >> 8 * i));
      }
    }
    if (node.arguments.size() > largest_block)
      field.refuse("more arguments than a launch can take");
  }
}

Json json_of(const KernelNode& node) {
  Json json{{"kernel", node.kernel},
            {"code", node.code},
            {"grid", text_of(node.grid)},
            {"block", text_of(node.block)},
            {"cluster", text_of(node.cluster)},
            {"shared_bytes", node.shared_bytes},
            {"most_shared_bytes", node.most_shared_bytes},
            {"shared_carveout", node.shared_carveout},
            {"cooperative", node.cooperative},
            {"parameters", to_string(node.parameters)},
            {"arguments", words_of(node)}};
  if (node.starts_early) json["starts_early"] = true;
  return json;
}

KernelNode kernel_node_of(const Field& field) {
  std::vector<std::string> names = {"kernel",
                                    "code",
                                    "grid",
                                    "block",
                                    "cluster",
                                    "shared_bytes",
                                    "most_shared_bytes",
                                    "shared_carveout",
                                    "cooperative",
                                    "parameters",
                                    "arguments"};
  if (field.has("starts_early")) names.emplace_back("starts_early");
  field.has_exactly(names);
  KernelNode node;
  node.kernel = field["kernel"].text();
  node.code = field["code"].text();
  node.grid = size_of(field["grid"]);
  node.block = size_of(field["block"]);
  node.cluster = size_of(field["cluster"]);
  node.shared_bytes = static_cast<unsigned>(field["shared_bytes"].whole(0, largest_int));
  node.most_shared_bytes = static_cast<int>(field["most_shared_bytes"].whole(0, largest_int));
  node.shared_carveout = static_cast<int>(field["shared_carveout"].whole(-1, 100));
  node.cooperative = field["cooperative"].flag();
  if (field.has("starts_early")) node.starts_early = field["starts_early"].flag();
  read_words(field["arguments"], node);
  node.parameters = parameters_of(field["parameters"], node.arguments.size());
  check_launch(field, node);
  return node;
}

Json json_of(const MemsetNode& node) {
  return {{"memset", to_string(node.operand, node.displacement)},
          {"value", node.value},
          {"element_bytes", node.element_bytes},
          {"width", node.width},
          {"height", node.height},
          {"pitch", node.pitch}};
}

MemsetNode memset_node_of(const Field& field) {
  field.has_exactly({"memset", "value", "element_bytes", "width", "height", "pitch"});
  const std::optional<Pointer> to = pointer_in(field["memset"].text());
  if (!to)
    field["memset"].refuse("expected A, B, C or workspace with a displacement, such as C+64");
  MemsetNode node{.operand = to->operand, .displacement = to->displacement};
  node.value =
      static_cast<unsigned>(field["value"].whole(0, std::numeric_limits<std::uint32_t>::max()));
  node.element_bytes = static_cast<unsigned>(field["element_bytes"].whole(1, 4));
  if (node.element_bytes == 3) field["element_bytes"].refuse("expected 1, 2 or 4");
  node.width = static_cast<std::uint64_t>(field["width"].whole(0, largest_size));
  node.height = static_cast<std::uint64_t>(field["height"].whole(0, largest_size));
  node.pitch = static_cast<std::uint64_t>(field["pitch"].whole(0, largest_size));
  return node;
}

}  // namespace

Json json_of(const Recipe& recipe) {
  Json nodes = Json::array();
  for (const Node& node : recipe.nodes) {
    nodes.push_back(std::visit([](const auto& n) { return json_of(n); }, node));
  }
  Json json = {{"nodes", nodes}};
  if (recipe.workspace_bytes > 0) json["workspace_bytes"] = recipe.workspace_bytes;
  return json;
}

Recipe recipe_of(const Json& json, const std::string& where) {
  const Field field(json, where);
  std::vector<std::string> names = {"nodes"};
  if (field.has("workspace_bytes")) names.emplace_back("workspace_bytes");
  field.has_exactly(names);
  Recipe recipe;
  if (field.has("workspace_bytes"))
    recipe.workspace_bytes = field["workspace_bytes"].whole(1, largest_size);
  for (const Field& node : field["nodes"].items()) {
    if (node.has("memset")) {
      recipe.nodes.push_back(memset_node_of(node));
    } else {
      recipe.nodes.push_back(kernel_node_of(node));
    }
  }
  return recipe;
}

}  // namespace assay
