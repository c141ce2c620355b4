// Reads PTX. Throws BadPtx for a text that breaks the grammar, with its line.
#pragma once

#include <map>
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

// Leaves the bodies of kernels for later, where these call none of the module's functions: then
// each can be told by itself. The text must outlive the module.
Module read_without_bodies(std::string_view text);
// Throws BadPtx, and may then be called again.
void read_body_of(Function&, Module&);

// The PTX within a fat binary, as nvcc puts it into an object: the newest of those in it, there.
// Throws BadPtx if the container is damaged, holds no PTX, or compressed PTX, and says what to do.
std::string_view ptx_within(std::span<const std::byte> fat_binary);

// How many registers ptxas gave a thread of each kernel, where a fat binary also holds machine code
// that runs on `architecture`, such as 90; empty where it holds none, or compressed.
std::map<std::string, int> registers_within(std::span<const std::byte> fat_binary,
                                            unsigned architecture);

}  // namespace ptx
