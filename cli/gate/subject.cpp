#include "cli/gate/subject.h"

#include <filesystem>

#include "base/errors.h"
#include "base/project.h"
#include "cli/selection.h"
#include "cli/worker_flags.h"
#include "oracle/machine.h"
#include "regress/bench.h"
#include "regress/problems.h"

namespace assay {
namespace {

void add(std::vector<std::string>& all, const std::vector<std::string>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

// Of the files, without cuBLAS, which is there to be compared with.
std::vector<std::string> variants_of_files() {
  std::vector<std::string> names;
  for (const Variant& variant : variants_to_time({})) {
    if (variant.name != name_of_yardstick()) names.emplace_back(variant.name);
  }
  return names;
}

}  // namespace

Subject subject_of(const KernelFiles& files, std::vector<std::string> words,
                   std::string& baselines) {
  const bool has_gpu = unavailable(Backend::cuda).empty();
  Subject subject;
  std::vector<std::string> names = words;
  subject.is_of_files = files.refuse_missing(names);
  subject.is_named = !names.empty();
  subject.worker = {time_worker_flag};
  if (!subject.is_of_files) {
    refuse_unknown(names);
    subject.folder = project().folder;
    subject.origin = origin_here();
    subject.variants = has_gpu && subject.is_named ? variants_for_gpu(names) : names;
    return subject;
  }
  const std::string beside = files.baselines(words);
  if (baselines == project().baselines) baselines = beside;
  subject.folder = std::filesystem::absolute(beside).parent_path().string();
  if (!has_gpu) return subject;
  subject.opened = files.open_for_gpu(words);
  add(subject.worker, subject.libraries());
  subject.origin = origin_of(subject.folder);
  subject.origin.kernels = "";
  subject.origin.compiler = files.compiler();
  subject.origin.flags = files.flags();
  subject.variants = subject.is_named ? variants_for_gpu(names) : variants_of_files();
  if (subject.variants.empty()) throw BadInput("no variant in there is for a GPU");
  return subject;
}

}  // namespace assay
