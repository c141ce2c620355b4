// Blocks, before any of their threads runs.
#pragma once

#include <memory>

#include "ptx/machine/block.h"

namespace ptx {

// With room for all that a block of a launch has.
std::unique_ptr<Block> make_block(Run&);
// Its memory serves another launch.
void keep_for_later(std::unique_ptr<Block>);
// As a block of the grid, of which nothing has run yet.
void start(Block&, const Dim& at);
// Once it belongs to a cluster, if it does.
void fill_specials_of(Block&);

}  // namespace ptx
