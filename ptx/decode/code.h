// A kernel as it runs: operations, and what a warp's slots hold beforehand.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "ptx/machine/bits/rules.h"
#include "ptx/machine/machine.h"
#include "ptx/machine/system/specials.h"
#include "ptx/machine/tensor/tensor.h"
#include "ptx/machine/warp.h"
#include "ptx/machine/warpgroup/warpgroup.h"

namespace ptx {

// Slots that are filled before a block starts.
struct Constant {
  int slot = 0;
  bool is_wide = false;
  std::uint64_t bits = 0;
};
struct SpecialSlot {
  int slot = 0;
  bool is_wide = false;
  const Special* special = nullptr;
  std::uint64_t at = 0;
};
struct ParamSlot {  // bytes of the parameters that an ld.param reads
  int slot = 0;
  bool is_wide = false;
  int bytes = 4;
  bool is_signed = false;
  std::size_t at = 0;
};

// A variable in shared memory.
struct SharedVariable {
  std::string name;  // as its author wrote it
  std::uint64_t at = 0;
  std::uint64_t bytes = 0;  // 0: all the rest
};

// The slots and predicates that an operation reads and writes, for following values.
struct Uses {
  std::vector<int> reads, writes;  // slots; of a 64-bit value the first
  std::vector<int> predicates_read, predicates_written;
  int address = -1;           // the slot that an access takes its address from
  std::vector<int> places;    // those that say with it which texel
  const char* operands = "";  // those of its handler
  Following follows = {};
};

struct WatchedCode;

struct Program::Kernel {
  KernelFacts facts;
  const Module* module = nullptr;
  Function function;  // with all calls replaced by what they call
  std::vector<Op> code;
  std::vector<Uses> uses;  // of each operation
  std::vector<int> lists;  // slots of vectors
  std::vector<MatrixOp> matrices;
  std::vector<GroupProduct> products;  // of warpgroups
  int product_registers = 0;           // that these touch, or moves from and to such
  bool has_warpgroups = false;         // it has some wgmma
  int slots = 0, predicates = 0;
  std::vector<Constant> constants;
  std::vector<SpecialSlot> specials;
  std::vector<ParamSlot> param_slots;
  std::vector<ParamPlace> params;
  std::vector<SharedVariable> shared_variables;
  std::vector<int> array_of;  // of each operation, that which its address is of; -1: not settled
  std::vector<int> unset;     // slots that may be read before they are written
  bool meets_in_clusters = false;  // it has a barrier of clusters
  std::string unsupported;         // why it cannot run; its launch is then the finding
  // Made by the first launch that is watched: such launches come by the thousand.
  mutable std::once_flag watched_once;
  mutable std::shared_ptr<const WatchedCode> watched_code;
};

// Where an operation comes from: "naive.cu:23", or "ptx line 40" without -lineinfo.
std::string place_of(const Program::Kernel&, const Op&);
// The same as lines, the innermost first; none without -lineinfo.
std::vector<SourceLine> lines_of(const Program::Kernel&, const Op&);

struct Program::Contents {
  Module module;
  Memory* memory = nullptr;
  std::unordered_map<std::string, std::unique_ptr<Kernel>> kernels;
  std::unordered_map<std::string, Symbol> symbols;
};

}  // namespace ptx
