// Makes one function of a kernel and all that it calls. Throws BadPtx for recursion and for calls
// through a pointer.
#pragma once

#include "ptx/reader/reader.h"

namespace ptx {

Function flattened(const Module&, const Function& kernel);

// What is called, but is part of CUDA: the machine has operations for them.
bool is_built_in(const std::string& function);

}  // namespace ptx
