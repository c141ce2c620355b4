// The folder of one GPU, as reading and writing it both need it.
#pragma once

#include <filesystem>
#include <string>

#include "regress/store/baseline.h"

namespace assay {

// Where in its folder a cubin lies, by its SHA-256.
std::filesystem::path place_of_cubin(const std::string& hash);

// Throws BadInput for what some file system does not take as the name of a folder or file.
void check_name(const std::string& name, const char* of_what);

// Reads it wherever it lies; errors call it `shown`. Throws BadInput.
Baseline read_folder(const std::filesystem::path& folder, const std::string& gpu,
                     const std::string& shown);

}  // namespace assay
