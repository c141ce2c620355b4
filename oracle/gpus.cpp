#include "oracle/gpus.h"

#include <charconv>
#include <cstdlib>
#include <sstream>

namespace assay {

std::string visible_name_of(int gpu) {
  std::string name = std::to_string(gpu);
  if (const char* visible = std::getenv("CUDA_VISIBLE_DEVICES")) {
    std::istringstream names(visible);
    for (int i = 0; i <= gpu && std::getline(names, name, ',');) ++i;
  }
  return name;
}

void keep_to_assigned_gpu() {
  const char* assigned = std::getenv("CTEST_RESOURCE_GROUP_0_GPUS");  // "id:2,slots:1"
  if (assigned == nullptr || !std::string_view(assigned).starts_with("id:")) return;
  setenv("CUDA_VISIBLE_DEVICES", visible_name_of(std::atoi(assigned + 3)).c_str(), 1);
  unsetenv("CTEST_RESOURCE_GROUP_0_GPUS");  // done
}

void forget_cuda_settings() {
  if (std::getenv("ASSAY_IN_PROCESS") != nullptr) return;
  for (const char* name : {"CUDA_LAUNCH_BLOCKING", "CUDA_DEVICE_MAX_CONNECTIONS"}) unsetenv(name);
}

namespace {

// One entry of CMake's list: its number, the GPUs it is restricted to, and whether it holds machine
// code, text that the driver compiles for newer GPUs, or both.
struct Architecture {
  int number = 0;
  bool for_this_one = false;     // 90a
  bool for_this_family = false;  // 100f
  bool code = true, text = true;

  explicit Architecture(std::string_view word) {
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    word.remove_prefix(static_cast<std::size_t>(end - word.data()));
    for_this_one = word.starts_with('a');
    for_this_family = word.starts_with('f');
    if (word.ends_with("-real")) text = false;
    if (word.ends_with("-virtual")) code = false;
  }

  bool runs_on(int capability) const {
    if (number == 0) return true;  // "native", "all": it is not known here what they came to
    if (for_this_one) return capability == number;
    const bool is_as_new = capability >= number;
    const bool same_family = is_as_new && capability / 10 == number / 10;
    if (for_this_family) return same_family;
    return (code && same_family) || (text && is_as_new);
  }
};

}  // namespace

bool runs_on(int capability, std::string_view architectures) {
  std::istringstream words{std::string(architectures)};
  for (std::string word; words >> word;) {
    if (Architecture(word).runs_on(capability)) return true;
  }
  return false;
}

}  // namespace assay
