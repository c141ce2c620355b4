// Makes one function of a kernel and all that it calls. A call through a pointer becomes a choice
// among the functions whose address is taken and that take such arguments. Of functions that call
// themselves there is a copy for each level, with registers and variables of its own. What alloca
// gives lies in a variable for all of them, which a register says how much of is taken. Where the
// stack may be too small, another register says what is on it.
#pragma once

#include "ptx/reader/reader.h"

namespace ptx {

Function flattened(const Module&, const Function& kernel);

// What is called, but is part of CUDA: the machine has operations for them.
inline constexpr const char* no_function = "a pointer to no function";  // as if it were one
inline constexpr const char* too_deep = "a level too deep";             // likewise
inline constexpr int most_levels = 40;
inline constexpr const char* too_much = "more than there is for alloca";  // likewise
inline constexpr int most_allocated = 4096;                               // bytes of each thread
// Likewise, with two arguments: the bytes that a thread has on its stack, and how many of them it
// would have if no function were called a second time.
inline constexpr const char* stack_holds = "what the stack holds";
bool is_built_in(const std::string& function);

}  // namespace ptx
