// What a program that compares hardware with the machine has found: a line for each scene, then
// whether all of it was as it should be.
#pragma once

#include <cstdio>

namespace hardware {

inline int wrong = 0, checked = 0, wrong_before = 0;

inline void begin(const char* scene) {
  std::printf("%s\n", scene);
  wrong_before = wrong;
}
inline void end() { std::printf("  %s\n", wrong == wrong_before ? "PASS" : "FAIL"); }

// The exit status of the program.
inline int told() {
  std::printf("%d checked, %d wrong: %s\n", checked, wrong, wrong == 0 ? "PASS" : "FAIL");
  return wrong == 0 ? 0 : 1;
}

}  // namespace hardware
