// Who last wrote each word of a region, and who read it since.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace ptx {

// A stamp holds the block, counted from 1, the time of that block and the thread; see
// shared_shadow.h for the last two. 0 is nobody.
struct Trace {
  std::uint64_t write = 0, read = 0;
  std::uint32_t write_op = 0, read_op = 0;
  bool write_is_atomic = false, read_is_atomic = false;
  bool is_in_parts = false;  // each byte has a trace of its own, elsewhere
};

// How much of what lies around a touched item of an array will be touched, too. Large pages are had
// for less than small ones where that is most of it, and cost more than they save where it is
// little.
enum class Touched { sparsely, as_usual, densely };

// Zeros, given by the system page by page when they are first touched.
template <class T>
class LazyArray {
 public:
  LazyArray() = default;
  explicit LazyArray(std::size_t count, Touched = Touched::as_usual);
  ~LazyArray();
  LazyArray(LazyArray&& other) noexcept
      : items_(std::exchange(other.items_, nullptr)), count_(std::exchange(other.count_, 0)) {}
  LazyArray& operator=(LazyArray&& other) noexcept {
    std::swap(items_, other.items_);
    std::swap(count_, other.count_);
    return *this;
  }
  T& operator[](std::size_t i) { return items_[i]; }
  T* data() { return items_; }
  bool empty() const { return items_ == nullptr; }
  std::size_t size() const { return count_; }

 private:
  T* items_ = nullptr;
  std::size_t count_ = 0;
};

// Traces of many words. Each part lies in an array of its own, so that eight words can be looked at
// at once. Blocks of all launches have numbers of their own, and those up to `settled` count as
// nobody: so nothing has to be cleared. A Trace counts blocks from `earlier`.
class Traces {
 public:
  static constexpr std::uint32_t in_parts = ~0u;     // as the block of both
  static constexpr std::uint32_t atomic = 1u << 31;  // with an operation
  enum Part { write_block, read_block, write, read, write_op, read_op };

  Traces() = default;
  explicit Traces(std::size_t count, Touched touched = Touched::as_usual)
      : count_(count), words_(6 * (count + 8), touched) {}
  std::size_t size() const { return count_; }
  // The parts of a word and those that follow; at least eight words follow the last.
  std::uint32_t* at(Part part, std::size_t word) {
    return words_.data() + part * (count_ + 8) + word;
  }

  Trace get(std::size_t word, std::uint32_t earlier, std::uint32_t settled) {
    const auto stamp = [&](Part block, Part rest) {
      const std::uint32_t b = *at(block, word);
      return b <= settled ? 0 : std::uint64_t{b - earlier} << 32 | *at(rest, word);
    };
    if (*at(write_block, word) == in_parts) return {.is_in_parts = true};
    const std::uint32_t w = *at(write_op, word), r = *at(read_op, word);
    return {.write = stamp(write_block, write),
            .read = stamp(read_block, read),
            .write_op = w & ~atomic,
            .read_op = r & ~atomic,
            .write_is_atomic = (w & atomic) != 0,
            .read_is_atomic = (r & atomic) != 0};
  }
  // One that counts from `earlier`, as if it counted from 0, and back.
  static Trace absolute(Trace t, std::uint32_t earlier) {
    for (std::uint64_t* stamp : {&t.write, &t.read})
      if (*stamp != 0) *stamp += std::uint64_t{earlier} << 32;
    return t;
  }
  static Trace relative(Trace t, std::uint32_t earlier, std::uint32_t settled) {
    for (std::uint64_t* stamp : {&t.write, &t.read})
      *stamp = *stamp >> 32 <= settled ? 0 : *stamp - (std::uint64_t{earlier} << 32);
    return t;
  }
  void set(std::size_t word, const Trace& t, std::uint32_t earlier) {
    const auto put = [&](Part block, Part rest, std::uint64_t stamp) {
      const auto number = static_cast<std::uint32_t>(stamp >> 32);
      *at(block, word) = t.is_in_parts ? in_parts : number == 0 ? 0 : earlier + number;
      *at(rest, word) = static_cast<std::uint32_t>(stamp);
    };
    put(write_block, write, t.write);
    put(read_block, read, t.read);
    *at(write_op, word) = t.write_op | (t.write_is_atomic ? atomic : 0);
    *at(read_op, word) = t.read_op | (t.read_is_atomic ? atomic : 0);
  }

 private:
  std::size_t count_ = 0;
  LazyArray<std::uint32_t> words_;
};

}  // namespace ptx
