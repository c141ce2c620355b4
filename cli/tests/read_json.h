// JSON that the program wrote, as tests look at it. Its source alone includes the parser.
#pragma once

#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace assay::tests {

class ReadJson {
 public:
  // Throws std::exception for text that is not JSON.
  explicit ReadJson(const std::string& text);

  // Null for a field or an item that does not exist.
  ReadJson operator[](const std::string& key) const;
  ReadJson operator[](int index) const;
  std::vector<ReadJson> items() const;
  std::size_t size() const;
  bool contains(const std::string& key) const;
  bool is_null() const;
  std::string text() const;  // throws for anything but a string,
  double number() const;     // or a number

  bool operator==(std::string_view text) const;
  template <class Number>
  requires std::is_arithmetic_v<Number>
  bool operator==(Number expected) const {
    return !is_null() && number() == static_cast<double>(expected);
  }

  friend std::ostream& operator<<(std::ostream&, const ReadJson&);

 private:
  struct Node;
  explicit ReadJson(std::shared_ptr<const Node> node) : node_(std::move(node)) {}

  std::shared_ptr<const Node> node_;
};

}  // namespace assay::tests
