// Random choices that are the same for the same seed, with every compiler and on every machine.
#pragma once

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <utility>
#include <vector>

namespace assay {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed) {}

  std::int64_t between(std::int64_t least, std::int64_t most) {
    return least +
           static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(most - least + 1));
  }
  // As often from 1000 to 2000 as from 1000000 to 2000000.
  std::int64_t log_between(std::int64_t least, std::int64_t most) {
    const auto octave = [](std::int64_t x) {
      return std::bit_width(static_cast<std::uint64_t>(x));
    };
    while (true) {
      const auto low = std::int64_t{1} << (between(octave(least), octave(most)) - 1);
      const std::int64_t value = between(low, 2 * low - 1);
      if (value >= least && value <= most) return value;
    }
  }
  bool one_in(std::int64_t count) { return between(1, count) == 1; }

  template <class T>
  T of(const std::vector<T>& values) {
    return values[static_cast<std::size_t>(
        between(0, static_cast<std::int64_t>(values.size()) - 1))];
  }
  template <class T>
  T of(std::initializer_list<T> values) {
    return values.begin()[between(0, static_cast<std::int64_t>(values.size()) - 1)];
  }
  template <class T>
  void shuffle(std::vector<T>& values) {
    for (std::size_t i = values.size(); i > 1; --i)
      std::swap(values[i - 1],
                values[static_cast<std::size_t>(between(0, static_cast<std::int64_t>(i) - 1))]);
  }

 private:
  std::mt19937_64 random_;
};

}  // namespace assay
