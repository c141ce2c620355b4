// What readers of a module may rely on, checked: every index points at something, every name is
// settled.
#pragma once

#include <string>
#include <string_view>

#include "ptx/reader/module.h"

namespace ptx::tests {

// Says what is wrong; empty if nothing is.
std::string flaw_of(const Module&);

// As `read` does, but for the bodies of kernels, which are read later: the last one first.
Module read_backwards(std::string_view);

}  // namespace ptx::tests
