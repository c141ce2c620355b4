// A sequence of plain values and texts, read in the order in which they were written. Both ends are
// the same program.
#pragma once

#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace assay {

class Message {
 public:
  Message() = default;
  explicit Message(std::string bytes) : bytes_(std::move(bytes)) {}

  template <class T>
  Message& put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(T));
    return *this;
  }
  // Cut to fit: what a variant throws may be of any length.
  Message& put(const std::string& text) {
    constexpr std::size_t longest = 1 << 12;
    const std::string fitting = text.size() > longest ? text.substr(0, longest) + " ..." : text;
    put(fitting.size());
    bytes_ += fitting;
    return *this;
  }
  template <class T>
  T take() {
    T value;
    std::memcpy(static_cast<void*>(&value), read(sizeof(T)), sizeof(T));
    return value;
  }
  std::string take_text() {
    const auto size = take<std::size_t>();
    return {read(size), size};
  }
  std::string take_rest() {
    const std::size_t size = bytes_.size() - at_;
    return {read(size), size};
  }
  const std::string& bytes() const { return bytes_; }

 private:
  const char* read(std::size_t size) {
    if (size > bytes_.size() - at_) throw std::runtime_error("a message ends too early");
    at_ += size;
    return bytes_.data() + at_ - size;
  }
  std::string bytes_;
  std::size_t at_ = 0;
};

}  // namespace assay
