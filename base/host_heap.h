// Makes mistakes in memory of the host show, as far as the C library can. Another C library than
// glibc changes nothing.
#pragma once

#include <map>
#include <string>

namespace assay {

// In which environment a process aborts when it gives back memory behind which, or in front of
// which, it has written. Empty where that cannot be had.
std::map<std::string, std::string> environment_that_checks_the_heap();

// For as long as one lives, memory that malloc gives is full of nonsense, and so is what is given
// back.
class ScribbledHeap {
 public:
  ScribbledHeap();
  ~ScribbledHeap();
  ScribbledHeap(const ScribbledHeap&) = delete;
  ScribbledHeap& operator=(const ScribbledHeap&) = delete;
};

// From now on, a process that the C library aborts says why before: it sends `before` and the
// reason, such as "free(): invalid pointer", or an assertion that failed. So does one that touches
// memory which it may not, if somebody can explain that.
void send_last_words(int descriptor, const std::string& before);

// What a fault at an address is about; null where nothing is known of it.
using ExplainFault = const char* (*)(const void* address);
void explain_faults_by(ExplainFault);

}  // namespace assay
