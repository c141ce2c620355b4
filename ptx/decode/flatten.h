// Makes one function of a kernel and all that it calls. A call through a pointer becomes a choice
// among the functions whose address is taken and that take such arguments. Throws BadPtx for
// recursion.
#pragma once

#include "ptx/reader/reader.h"

namespace ptx {

Function flattened(const Module&, const Function& kernel);

// What is called, but is part of CUDA: the machine has operations for them.
inline constexpr const char* no_function = "a pointer to no function";  // as if it were one
bool is_built_in(const std::string& function);

}  // namespace ptx
