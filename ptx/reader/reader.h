// Reads PTX. Throws BadPtx for a text that breaks the grammar, with its line.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/errors.h"
#include "ptx/reader/module.h"

namespace ptx {

struct BadPtx : assay::BadInput {
  using BadInput::BadInput;
};

Module read(std::string_view text);

// The PTX within a fat binary, as nvcc puts it into an object: the newest of those in it. Throws
// BadPtx if the container is damaged, holds no PTX, or compressed PTX, and says what to do.
std::string ptx_within(std::span<const std::byte> fat_binary);

}  // namespace ptx
