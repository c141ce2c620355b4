// Host memory in which operands lie as a case asks for it: unreadable memory on both sides, and
// between rows that lie far apart.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "oracle/diagnosis/whereabouts.h"
#include "oracle/operands.h"

namespace assay {

// Memory between two fences.
class Region {
 public:
  Region() = default;
  ~Region() { release(); }
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

  // Reserves addresses, all of which fault until they are opened.
  void reserve(std::size_t bytes);
  void open(std::byte* first, std::size_t bytes);
  // Of all that was opened, for now.
  void protect(int access) const;
  // Leaves nothing of an earlier trial in the rest of the first and the last page of a range.
  void poison_beside(std::byte* first, std::size_t bytes);
  std::byte* begin() const { return base_; }
  std::byte* end() const { return base_ + size_; }

 private:
  bool close() const;  // all that was opened; whether the system did
  void release();

  std::byte* base_ = nullptr;
  std::size_t size_ = 0;
  std::vector<std::pair<std::byte*, std::size_t>> opened_;
};

class HostMemory {
 public:
  // What the functions of Machine of these names promise.
  float* place(Operand, const Image&, Placement);
  void fetch(Operand, Image&) const;
  std::optional<Image> change_of(Operand, const Image& placed) const;
  void protect(int access) const;  // all readable operands

  const ByOperand<Placed>& placed() const { return placed_; }
  static Fences fences();  // around each operand
  Diagnosis whereabouts_of(const void* address) const;

 private:
  struct Slot {
    Region region;
    std::byte* first = nullptr;  // element (0, 0)
    std::byte* end = nullptr;    // of the image
    bool unreadable = false;
    std::byte* at(const Piece& piece) const {
      return first + piece.at * static_cast<std::ptrdiff_t>(sizeof(float));
    }
  };

  float* place_behind(Operand, const Image&);

  ByOperand<Slot> slots_;
  ByOperand<Placed> placed_;
};

}  // namespace assay
