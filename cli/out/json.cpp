#include "cli/out/json.h"

#include <nlohmann/json.hpp>

namespace assay {
namespace {

using Tree = nlohmann::ordered_json;

Tree tree_of(const JsonValue& json);

struct TreeOf {
  Tree operator()(const JsonValue::List& list) const {
    Tree tree = Tree::array();
    for (const JsonValue& one : list) tree.push_back(tree_of(one));
    return tree;
  }
  Tree operator()(const JsonValue::Fields& fields) const {
    Tree tree = Tree::object();
    for (const auto& [key, value] : fields) tree[key] = tree_of(value);
    return tree;
  }
  template <class Plain>
  Tree operator()(const Plain& value) const {
    return value;
  }
};

Tree tree_of(const JsonValue& json) { return std::visit(TreeOf(), json.value()); }

Tree opening(const char* command) {
  return {{"schema", 1}, {"command", command}, {"version", ASSAY_VERSION}};
}

std::string text_of(Tree tree, const JsonValue& fields) {
  tree.update(tree_of(fields));
  return tree.dump(2, ' ', false, Tree::error_handler_t::replace) + "\n";
}

}  // namespace

std::string json_text(const char* command, const JsonValue& fields) {
  return text_of(opening(command), fields);
}

std::string json_text(const char* command, const std::vector<std::string>& arguments,
                      const Conclusion& conclusion, const JsonValue& fields) {
  Tree tree = opening(command);
  tree["argv"] = arguments;
  tree["verdict"] = conclusion.word;
  tree["summary"] = conclusion.text();
  tree["exit_code"] = static_cast<int>(conclusion.code);
  return text_of(std::move(tree), fields);
}

}  // namespace assay
