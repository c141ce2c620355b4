#include "properties/defects/catalogue.h"

namespace assay {

std::span<const Defect> catalogue() {
  static constexpr Defect defects[] = {
#include "properties/defects/defects.inc"
  };
  return defects;
}

}  // namespace assay
