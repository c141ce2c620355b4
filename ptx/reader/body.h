// The body of a function.
#pragma once

#include "ptx/reader/lexer.h"
#include "ptx/reader/module.h"
#include "ptx/reader/names.h"
#include "ptx/reader/places.h"

namespace ptx {

// From its { to its }.
void read_body(Lexer&, Function&, const Globals&, Places&);

}  // namespace ptx
