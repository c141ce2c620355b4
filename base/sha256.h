// What stands for the bytes of a file, in names and in records.
#pragma once

#include <string>
#include <string_view>

namespace assay {

std::string sha256(std::string_view bytes);  // in hexadecimal

}  // namespace assay
