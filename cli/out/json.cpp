#include "cli/out/json.h"

#include "base/strict_json.h"

namespace assay {
namespace {

Json tree_of(const JsonValue& json);

struct TreeOf {
  Json operator()(const JsonValue::List& list) const {
    Json tree = Json::array();
    for (const JsonValue& one : list) tree.push_back(tree_of(one));
    return tree;
  }
  Json operator()(const JsonValue::Fields& fields) const {
    Json tree = Json::object();
    for (const auto& [key, value] : fields) tree[key] = tree_of(value);
    return tree;
  }
  template <class Plain>
  Json operator()(const Plain& value) const {
    return value;
  }
};

Json tree_of(const JsonValue& json) { return std::visit(TreeOf(), json.value()); }

Json opening(const char* command) {
  return {{"schema", 1}, {"command", command}, {"version", ASSAY_VERSION}};
}

std::string completed(Json tree, const JsonValue& fields) {
  tree.update(tree_of(fields));
  return text_of(tree);
}

}  // namespace

std::string json_text(const char* command, const JsonValue& fields) {
  return completed(opening(command), fields);
}

std::string json_text(const char* command, const std::vector<std::string>& arguments,
                      const Conclusion& conclusion, const JsonValue& fields) {
  Json tree = opening(command);
  tree["argv"] = arguments;
  tree["verdict"] = conclusion.word;
  tree["summary"] = conclusion.text();
  tree["exit_code"] = static_cast<int>(conclusion.code);
  return completed(std::move(tree), fields);
}

}  // namespace assay
