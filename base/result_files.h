// The files that a command is given to read: as named, and those in folders.
#pragma once

#include <string>
#include <vector>

namespace assay {

// Each file as it is named, and for a folder all files .json in it, by their names. Throws BadInput
// for a folder that cannot be read or holds none.
std::vector<std::string> result_files(const std::vector<std::string>& files_and_folders);

}  // namespace assay
