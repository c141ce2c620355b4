// The types of PTX by their names.
#pragma once

#include "ptx/reader/lexer.h"
#include "ptx/reader/module.h"

namespace ptx {

// Of ".f32" and the like; none if it is no type.
Type type_named(std::string_view dotted);

// A type that stands at this place. Throws BadPtx for what is none.
Type read_type(Lexer&);

}  // namespace ptx
