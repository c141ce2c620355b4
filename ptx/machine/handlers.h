// The handlers of all operations, by the name of their instruction: opcode and modifiers joined by
// dots, without those that change nothing.
#pragma once

#include <string>
#include <unordered_map>

#include "ptx/machine/bits/rules.h"
#include "ptx/machine/warp.h"

namespace ptx {

// What the operands of a handler are, so that the decoder can fill in slots and others can follow
// values: letters for d, a, b, c, e. 'w' one slot, 'x' two, 'p' a predicate, '-' none.
struct Handling {
  Handler run = nullptr;
  const char* operands = "";
  Following follows = {};  // by its name
};
using Handlers = std::unordered_map<std::string, Handling>;

void add_integer_handlers(Handlers&);
void add_bit_handlers(Handlers&);
void add_rare_integer_handlers(Handlers&);
void add_real_handlers(Handlers&);
void add_conversion_handlers(Handlers&);
void add_half_handlers(Handlers&);
void add_eight_bit_float_handlers(Handlers&);
void add_barrier_vote_handlers(Handlers&);
void add_copy_handlers(Handlers&);
void add_mbarrier_handlers(Handlers&);
void add_bulk_handlers(Handlers&);
void add_tensor_copy_handlers(Handlers&);
void add_texture_handlers(Handlers&);
void add_print_handlers(Handlers&);
void add_heap_handlers(Handlers&);
void add_waiting_handlers(Handlers&);
void add_multiply_handlers(Handlers&);
void add_matrix_handlers(Handlers&);
void add_warpgroup_handlers(Handlers&);
void add_product_register_handlers(Handlers&);
void add_group_multiply_handlers(Handlers&);
void add_control_handlers(Handlers&);
void add_tile_handlers(Handlers&);
void add_load_handlers(Handlers&);
void add_memory_handlers(Handlers&);
void add_wide_atomic_handlers(Handlers&);
void add_cluster_barrier_handlers(Handlers&);
void add_shared_address_handlers(Handlers&);
void add_cluster_copy_handlers(Handlers&);

// The lanes that take part in a warp-wide operation: b names them, or e if there is no b.
std::uint32_t partners(const Op*, const Warp&);

// Null if there is none of this name.
const Handling* handling_of(const std::string& name);

}  // namespace ptx
