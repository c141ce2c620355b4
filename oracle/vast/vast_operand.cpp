#include "oracle/vast/vast_operand.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <new>

#include "base/scramble.h"
#include "oracle/host/addresses.h"

namespace assay {
namespace {

constexpr std::size_t page = 4096, fence = std::size_t{1} << 20;
constexpr std::size_t page_floats = page / sizeof(float);
// A prime number of pages: rows lie at any distance, and hardly two begin alike.
constexpr std::size_t pages_of_numbers = 4093;

// A file in memory that holds the numbers, none of them zero.
int file_of_numbers() {
  static const int file = [] {
    std::vector<float> numbers(pages_of_numbers * page_floats);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const auto bits = static_cast<std::int32_t>(scramble(i) >> 40) - (1 << 23);
      numbers[i] = static_cast<float>(bits | 1) * 0x1p-23f;
    }
    const int made = memfd_create("numbers", MFD_CLOEXEC);
    const std::size_t bytes = numbers.size() * sizeof(float);
    if (made < 0 || write(made, numbers.data(), bytes) != static_cast<ssize_t>(bytes))
      throw std::bad_alloc();
    return made;
  }();
  return file;
}

std::size_t pages_of(std::int64_t floats) {
  return static_cast<std::size_t>(floats) / page_floats + 1;
}

}  // namespace

VastOperand::VastOperand(std::int64_t rows, std::int64_t columns, std::int64_t ld, int offset)
    : rows_(rows),
      columns_(columns),
      ld_(ld),
      bytes_(pages_of(rows * ld + offset) * page),
      base_(addresses_between_fences(bytes_, fence)),
      first_(reinterpret_cast<float*>(base_) + offset) {
  if (mprotect(base_, bytes_, PROT_READ | PROT_WRITE) == 0) return;
  give_back_addresses(base_, bytes_, fence);
  throw std::bad_alloc();
}

VastOperand::~VastOperand() { give_back_addresses(base_, bytes_, fence); }

void VastOperand::fill() {
  constexpr std::size_t at_once = pages_of_numbers * page;
  for (std::size_t done = 0; done < bytes_; done += at_once) {
    const std::size_t length = std::min(at_once, bytes_ - done);
    if (mmap(base_ + done, length, PROT_READ, MAP_SHARED | MAP_FIXED, file_of_numbers(), 0) ==
        MAP_FAILED)
      throw std::bad_alloc();
  }
}

// Only pages that somebody has touched are there. What they hold is counted first: to list all of
// it would take many times its memory.
std::vector<VastOperand::Element> VastOperand::changed(std::size_t most) const {
  std::vector<unsigned char> is_there(bytes_ / page);
  if (mincore(base_, bytes_, is_there.data()) != 0) throw std::bad_alloc();
  const auto for_each_changed = [&](const auto& take) {
    for (std::size_t p = 0; p < is_there.size(); ++p) {
      if ((is_there[p] & 1) == 0) continue;
      const auto* const floats = reinterpret_cast<const float*>(base_ + p * page);
      const auto first = std::clamp<std::int64_t>(first_ - floats, 0, page_floats);
      const auto end = std::clamp<std::int64_t>(first_ + rows_ * ld_ - floats, 0, page_floats);
      for (std::int64_t i = first; i < end; ++i)
        if (floats[i] != 0) take(floats + i - first_);
    }
  };
  std::size_t count = 0;
  for_each_changed([&](std::int64_t) { ++count; });
  const std::size_t step = count / most + 1;
  std::vector<Element> some;
  std::size_t number = 0;
  for_each_changed([&](std::int64_t at) {
    if (number++ % step == 0) some.push_back({at / ld_, at % ld_});
  });
  return some;
}

}  // namespace assay
