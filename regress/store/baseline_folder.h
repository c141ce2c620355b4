// The folder of one GPU's baseline, as it is read from wherever it lies.
#pragma once

#include <filesystem>
#include <string>

#include "regress/store/baseline.h"

namespace assay {

// Complaints call the folder `shown`.
Baseline read_folder(const std::filesystem::path& folder, const std::string& gpu,
                     const std::string& shown);

// Throws BadInput unless a folder or file can have this name everywhere.
void check_name(const std::string& name, const char* of_what);

// Where in its folder a cubin lies.
std::filesystem::path place_of_cubin(const std::string& hash);

}  // namespace assay
