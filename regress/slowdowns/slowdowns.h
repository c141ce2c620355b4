// The catalogue of slowdowns, as a table.
#pragma once

#include "kernels/register.h"

namespace assay {

struct Slowdown {
  const char* name;
  const char* variant;  // the one it makes slower
  const char* file;
  const char* what;
  const char*
      only;  // the problem of the gate that alone enqueues more for it; empty if there is none
  const char* gone;  // text that the file no longer has, so that the edit cannot be made; or empty
  Backend backend;   // that shows it to be right, where there is no GPU
};

inline constexpr Slowdown slowdowns[] = {
#include "regress/slowdowns/slowdowns.inc"
};

}  // namespace assay
