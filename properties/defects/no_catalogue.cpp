// For programs without planted faults.
#include "properties/defects/catalogue.h"

namespace assay {

std::span<const Defect> catalogue() { return {}; }

}  // namespace assay
