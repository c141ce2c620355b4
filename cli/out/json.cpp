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

}  // namespace

std::string text_of(const JsonValue& json) { return text_of(tree_of(json)); }

}  // namespace assay
