// The text of each file of a baseline, without looking at any other file.
#pragma once

#include <string>

#include "regress/store/baseline.h"

namespace assay {

std::string device_text(const Baseline&);
std::string variant_text(const std::string& variant, const VariantBaseline&);

// Bytes from element (0, 0) to the end of the last row.
std::int64_t bytes_of_operand(const Case&, Operand);

// Throw BadInput that begins with `file` for any text that the functions above did not write.
void read_device(const std::string& text, const std::string& file, Baseline&);
VariantBaseline read_variant(const std::string& text, const std::string& file,
                             const std::string& variant);

}  // namespace assay
