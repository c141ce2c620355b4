// The scripts of ci/, in folders where programs are stand-ins.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "cli/tests/program.h"

namespace assay::tests {

inline const std::string scripts = ASSAY_SCRIPTS;

inline void write_program(const std::string& file, const std::string& text) {
  std::filesystem::create_directories(std::filesystem::path(file).parent_path());
  write_text(file, "#!/bin/bash\n" + text);
  std::filesystem::permissions(file, std::filesystem::perms::all);
}

// A folder with programs in bin/, which are found first.
inline Answer shell_in(const Folder& folder, const std::string& command,
                       std::map<std::string, std::string> environment = {}) {
  environment["PATH"] = folder / "bin:/usr/local/bin:/usr/bin:/bin";
  environment["GIT_CONFIG_GLOBAL"] = "/dev/null";
  return run({"-c", "cd '" + (folder / ".") + "' && " + command},
             {.program = "/bin/bash", .environment = std::move(environment)});
}

}  // namespace assay::tests
