// Just enough of an XML reader to tell whether a document is well formed.
#pragma once

#include <string>

namespace assay::tests {

// What is wrong with the document; empty if nothing is. It may have a declaration, elements,
// attributes, text, and the entities that need no declaration.
std::string fault_of_xml(const std::string& document);

}  // namespace assay::tests
