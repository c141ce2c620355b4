#include "cli/tests/read_json.h"

#include <nlohmann/json.hpp>
#include <ostream>

namespace assay::tests {

struct ReadJson::Node {
  nlohmann::json json;
};

ReadJson::ReadJson(const std::string& text)
    : node_(std::make_shared<Node>(Node{nlohmann::json::parse(text)})) {}

ReadJson ReadJson::operator[](const std::string& key) const {
  return ReadJson(std::make_shared<Node>(Node{contains(key) ? node_->json[key] : nullptr}));
}

ReadJson ReadJson::operator[](int index) const {
  const auto at = static_cast<std::size_t>(index);
  return ReadJson(std::make_shared<Node>(
      Node{node_->json.is_array() && at < size() ? node_->json[at] : nullptr}));
}

std::vector<ReadJson> ReadJson::items() const {
  std::vector<ReadJson> all;
  for (int i = 0; i < static_cast<int>(size()); ++i) all.push_back((*this)[i]);
  return all;
}

std::size_t ReadJson::size() const { return node_->json.size(); }

bool ReadJson::contains(const std::string& key) const { return node_->json.contains(key); }

bool ReadJson::is_null() const { return node_->json.is_null(); }

std::string ReadJson::text() const { return node_->json.get<std::string>(); }

bool ReadJson::operator==(std::string_view text) const {
  return node_->json.is_string() && node_->json.get_ref<const std::string&>() == text;
}

double ReadJson::number() const { return node_->json.get<double>(); }

std::ostream& operator<<(std::ostream& out, const ReadJson& value) {
  return out << value.node_->json;
}

}  // namespace assay::tests
