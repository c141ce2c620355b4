// Says whether what is being timed is right, on the operands that it is timed on: by cuBLAS in
// double precision, on the GPU, in about the time of one launch.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "regress/device/arm.h"
#include "regress/device/operand_sets.h"

namespace assay {

class ProductJudge {
 public:
  ProductJudge();
  ~ProductJudge();
  ProductJudge(const ProductJudge&) = delete;
  ProductJudge& operator=(const ProductJudge&) = delete;

  // Runs it once on one of the sets, whose C is poisoned first where it is only to be written.
  // Empty if every element is within the bound of the arithmetic, else how many are not.
  std::string complaint(Enqueuer&, const OperandSets&, std::int64_t set, Arithmetic, cudaStream_t);

 private:
  struct Product;
  const Product& product_of(const OperandSets&, std::int64_t set, cudaStream_t);
  void* handle_ = nullptr;                                     // of cuBLAS
  std::map<std::int64_t, std::unique_ptr<Product>> products_;  // of the sets of `problem_`
  Case problem_;
};

}  // namespace assay
