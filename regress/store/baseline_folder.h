// The folder of one GPU's baseline, wherever it lies.
#pragma once

#include <filesystem>
#include <string>

#include "regress/store/baseline.h"

namespace assay {

// Errors call the folder `shown`.
Baseline read_folder(const std::filesystem::path& folder, const std::string& gpu,
                     const std::string& shown);

// Throws BadInput unless every file system takes this as the name of a folder or file.
void check_name(const std::string& name, const char* of_what);

// Where in its folder a cubin lies, by its SHA-256.
std::filesystem::path place_of_cubin(const std::string& hash);

}  // namespace assay
