// The errors that end a command, one type for each exit code that an error can end in. The message
// is one line: what is wrong and, where somebody can mend it, what to do.
#pragma once

#include <stdexcept>

namespace assay {

// Somebody gave us something that cannot be used. Exit code 2.
struct BadInput : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// This build or computer cannot run what was asked for, such as a kernel on a GPU it lacks.
struct Unavailable : BadInput {
  using BadInput::BadInput;
};

// The machine is not fit for the job: it lacks what it must have, or its tools disagree. Exit
// code 4.
struct UnfitEnvironment : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Nothing was accepted that could be compared with. Exit code 5.
struct NoBaseline : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace assay
