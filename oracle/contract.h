// The memory contract: a launch changes the elements of C and of its workspace, and nothing else.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>

#include "oracle/finding.h"
#include "oracle/operands.h"

namespace assay {

struct Breach {
  Finding finding;
  std::string words;  // where it wrote; empty if the contract was kept
};

// The memory after a launch. What it has left unchanged is what was there before, and no copy.
class After {
 public:
  After(const Operands& before) : before_(&before) {}
  void change(Operand o, Image&& image) { changed_[index(o)] = std::move(image); }
  const Image& operator[](Operand o) const {
    const std::optional<Image>& changed = changed_[index(o)];
    return changed ? *changed : (*before_)[o];
  }

 private:
  static std::size_t index(Operand o) { return static_cast<std::size_t>(o); }
  const Operands* before_;
  ByOperand<std::optional<Image>> changed_;
};

// How a launch broke the contract between `before` and `after`.
Breach contract_breach(const Operands& before, const After& after);

bool same_bits(const Image&, const Image&);

}  // namespace assay
