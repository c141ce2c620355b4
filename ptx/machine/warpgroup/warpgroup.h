// wgmma: products of matrices that four warps begin together, and that go on while these do
// something else.
//
// A product reads its matrices in shared memory, and its registers, at any time until one of the
// warps has waited for the group that it was committed to: the ISA has one such group for all four.
// Here it takes place where a warp begins it, and what it may still touch is marked until then.
//
// Whoever writes its words of shared memory sooner has a race, as has one whose own stores it reads
// without fence.proxy.async. So has a warp that touches registers of a product before its own wait,
// or begins one behind an access to its registers that no wgmma.fence follows. Moves between
// registers, which compilers add at will, only take along what is known of a register.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "ptx/machine/tensor/tensor.h"

namespace ptx {

struct Block;

inline constexpr int warps_of_group = 4;

// What an operation wgmma.mma_async needs to know; Op::e is its index in Program::Kernel. The
// registers that products touch have numbers of their own, from 0 on.
struct GroupProduct {
  Fragment d, a;  // of one warp; `a` without registers: it lies in shared memory
  std::vector<int> d_numbers, a_numbers;
  int a_descriptor = -1, b_descriptor = -1;  // slots
  int scales_d = -1;  // a predicate: whether the sums are added to; -1: `adds` says it
  bool adds = true;
  Type type_a = Type::none, type_b = Type::none;
  int n = 0, k = 0;
  bool negates_a = false, negates_b = false;
  bool a_across_k = false, b_across_k = false;  // how they lie in shared memory
  bool saturates = false;
};

// What a warp has done to a register since the block began.
struct ProductRegister {
  std::uint32_t result_of = 0, read_by = 0;  // the last product, by its number; 0: none
  const Op* product = nullptr;               // the later of the two
  bool is_copy = false;                      // of a result, by a move
  // How many wgmma.fence, plus one, before it was written or read; 0: by none but moves.
  std::uint32_t written_behind = 0, read_behind = 0;
  const Op *write = nullptr, *read = nullptr;
};

// Four warps, and the products that they have begun. Each has a number, from 1 on.
struct Warpgroup {
  struct Product {
    const Op* op = nullptr;
    std::uint64_t a = 0, b = 0;        // descriptors
    std::uint32_t warps = 0;           // that have begun it
    std::vector<std::uint32_t> words;  // of shared memory: the first of each piece that it reads
  };
  std::deque<Product> under_way;  // those that no warp has waited for
  std::uint32_t complete = 0;     // how many are, or have been waited for
  std::uint32_t complete_at = 0;  // in the time of the block

  struct OfWarp {
    std::uint32_t begun = 0, done = 0;  // products; done: those that it has waited for
    std::uint32_t fences = 0;
    std::vector<std::uint32_t> groups;  // committed and not waited for: how many had begun
    std::vector<ProductRegister> registers;
  };
  OfWarp of_warp[warps_of_group];
};

// Those of a block, of which nothing has begun.
void start_warpgroups(Block&);
Warpgroup& warpgroup_of(const Warp&);
Warpgroup::OfWarp& part_of(const Warp&);
// Of those who know of others (stamp::knowers), whether it is a warpgroup that has had products.
bool counts_as_knower(const Block&, std::size_t who);
// Reports that a warp waits for a product that others of its warpgroup have not begun; false if
// none does.
bool report_lone_warps(Block&);

// Whether a warp may begin a product: by what it did to its registers. False after a finding.
bool may_use_registers(const Op*, Warp&, const GroupProduct&);
// They belong to the product that has this number.
void give_registers(const Op*, Warp&, const GroupProduct&, std::uint32_t number);

}  // namespace ptx
