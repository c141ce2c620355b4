// What a launch enqueues, as data: enough to repeat it from a stored cubin, on other operands.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "oracle/operands.h"

namespace assay {

// Eight bytes of an argument block that hold an address inside an operand.
struct Pointer {
  std::uint32_t at = 0;  // bytes into the block
  Operand operand = Operand::a;
  std::int64_t displacement = 0;  // bytes from its beginning
  bool operator==(const Pointer&) const = default;
};

// Where one parameter lies in the argument block.
struct Parameter {
  std::uint32_t at = 0, bytes = 0;
  bool operator==(const Parameter&) const = default;
};

// "0+88 88+4": where each begins, and its bytes.
std::string to_string(const std::vector<Parameter>&);
// "A", "B+64", "C-8" or "workspace+1024"
std::string to_string(Operand, std::int64_t displacement);
// By where they are in the block.
std::vector<Pointer> in_order(std::vector<Pointer>);

struct KernelNode {
  std::string kernel;  // its symbol in the cubin
  std::string code;    // the hash of its machine code
  std::array<unsigned, 3> grid = {1, 1, 1}, block = {1, 1, 1}, cluster = {1, 1, 1};
  unsigned shared_bytes = 0;  // dynamic
  int most_shared_bytes = 0;  // the function's limit of dynamic shared memory
  int shared_carveout = -1;   // the preference, in percent; -1 is the driver's own
  bool cooperative = false;
  bool starts_early = false;  // before the kernel ahead has ended, where that lets it
  std::vector<Parameter> parameters;
  std::vector<std::uint8_t> arguments;  // the block; eight bytes at each pointer are zero
  std::vector<Pointer> pointers;
  bool operator==(const KernelNode&) const = default;
};

struct MemsetNode {
  Operand operand = Operand::c;
  std::int64_t displacement = 0;
  unsigned value = 0, element_bytes = 1;
  std::uint64_t width = 0, height = 1, pitch = 0;
  bool operator==(const MemsetNode&) const = default;
};

using Node = std::variant<KernelNode, MemsetNode>;

struct Recipe {
  std::vector<Node> nodes;           // one after the other
  std::int64_t workspace_bytes = 0;  // that they take in all
  bool operator==(const Recipe&) const = default;
};

// Whether two recipes enqueue the same machine code in the same way. Ignores symbols, which the
// compiler makes from the path of the file.
bool same_launch(const Recipe&, const Recipe&);

// The differences in words, such as "grid 64 -> 128"; empty for the same launch.
std::string difference(const Recipe& before, const Recipe& now);

}  // namespace assay
