// Lends operands in host memory to the PTX machine, which has one device memory.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <vector>

#include "oracle/diagnosis/whereabouts.h"

namespace assay {

// While it lives, launches may touch the operands, and no other thread launches. The workspace
// holds nothing, nor does C unless it is read. Operands that are unreadable stay out of reach.
class DeviceLoan {
 public:
  DeviceLoan(const ByOperand<Placed>&, bool c_is_read);
  void add(const ByOperand<Placed>&, bool c_is_read);    // of a second problem
  void renew(const ByOperand<Placed>&, bool c_is_read);  // as if nothing had been launched
  ~DeviceLoan();
  DeviceLoan(const DeviceLoan&) = delete;

 private:
  void give_back();

  std::unique_lock<std::mutex> lock_;
  std::vector<std::uint64_t> lent_;
};

}  // namespace assay
