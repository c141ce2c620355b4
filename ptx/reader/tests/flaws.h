// What readers of a module may rely on, checked: every index points at something, every name is
// settled.
#pragma once

#include <string>

#include "ptx/reader/module.h"

namespace ptx::tests {

// Says what is wrong; empty if nothing is.
std::string flaw_of(const Module&);

}  // namespace ptx::tests
