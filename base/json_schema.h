// Checks JSON against a JSON Schema of which it knows as much as docs/result.schema.json uses: $ref
// into $defs, type, const, enum, minimum, required, properties, additionalProperties, items, allOf,
// and if with then. Throws std::logic_error for a schema that uses more, instead of passing what it
// does not look at.
#pragma once

#include "base/strict_json.h"

namespace assay {

// What to do about a field that no part of the schema names. Who reads ignores it: a later version
// may have added it. Who writes may not: it would be missing from the documentation.
enum class UnknownFields { ignored, refused };

// Throws BadInput that says where `value` is not as `schema` asks.
void check_schema(const Json& schema, const Field& value, UnknownFields);

}  // namespace assay
