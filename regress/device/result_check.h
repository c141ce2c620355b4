// Checks the result of what is being timed, on the operands that it is timed on, against cuBLAS in
// double precision. It takes about the time of one launch.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "regress/device/enqueuer.h"
#include "regress/device/operand_sets.h"

namespace assay {

class ResultCheck {
 public:
  ResultCheck();
  ~ResultCheck();
  ResultCheck(const ResultCheck&) = delete;
  ResultCheck& operator=(const ResultCheck&) = delete;

  // Runs the enqueuer once on one of the sets, whose C is poisoned first if beta is 0. Returns how
  // many elements are outside the bound of the arithmetic; empty if none is.
  std::string complaint(Enqueuer&, const OperandSets&, std::int64_t set, Arithmetic, cudaStream_t);

 private:
  struct Product;
  const Product& product_of(const OperandSets&, std::int64_t set, cudaStream_t);
  void* handle_ = nullptr;                                     // of cuBLAS
  std::map<std::int64_t, std::unique_ptr<Product>> products_;  // of the sets of `problem_`
  Case problem_;
};

}  // namespace assay
