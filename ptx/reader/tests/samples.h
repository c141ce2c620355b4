// Texts as nvcc writes them: between them, they hold every form of the grammar.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ptx/reader/module.h"

namespace ptx::tests {

// A kernel with lines of its source, inlined functions, loops and shared memory.
extern const std::string_view kernel_sample;
// Calls: of functions declared and defined, through pointers, with and without results.
extern const std::string_view calls_sample;
// Variables of all spaces, and what they hold at first.
extern const std::string_view variables_sample;
// Inline assembly, tensor copies, barriers, predicates: operands of all forms.
extern const std::string_view operands_sample;

std::vector<std::string_view> all_samples();

// A module with these statements in a kernel `k(.param .u64 k_param_0)`. Statements begin in line
// 7, registers %p<9>, %r<9>, %rd<9>, %f<9>, %fd<9> are there.
std::string with_body(std::string_view statements);
// The kernel of that, as it was read; throws what `read` does.
Function body_of(std::string_view statements);
// The first instruction's operands of such a body.
std::vector<Operand> operands_of(std::string_view statement);

// A module with these declarations, which begin in line 4.
std::string with_declarations(std::string_view declarations);

}  // namespace ptx::tests
