// `assay check --watch`: judges again at each save.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace assay {

// Runs this program with `arguments` whenever one of the files changes, from the start; a run that
// is still going then is ended. `files` is asked after each run. Returns only by a signal.
[[noreturn]] void run_at_each_save(
    const std::vector<std::string>& arguments,
    const std::function<std::vector<std::filesystem::path>()>& files);

}  // namespace assay
