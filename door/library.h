// Libraries that somebody else compiled: enters the variants of their table, door/assay_library.h,
// into the registry.
#pragma once

#include <string>

namespace assay {

// Whether a loaded library has a table, of whatever version.
bool has_table(void* library);

// Throws BadInput, which names the file, for a table that is not of this version, is no table, or
// has a variant that says what this version does not know.
void register_table(void* library, const std::string& file);

}  // namespace assay
