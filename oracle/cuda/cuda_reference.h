// cuBLAS as a reference: for large problems, in double precision, and as a second opinion.
#pragma once

#include <optional>
#include <string>

#include "oracle/reference.h"

namespace assay {

// Nothing where the host is fast enough, or for NaN and infinities. Checks samples on the host;
// throws std::runtime_error if one is wrong.
std::optional<Reference> make_device_reference(const Case&, const Operands&);

// Compares Eigen with cuBLAS in double and in pedantic single precision on a case: how they differ;
// empty if they agree.
std::string disagreement_with_cublas(const Case&);

// The two halves of that comparison, for any reference.
std::string disagreement_with_dgemm(const Case&, const Operands&, const Reference&);
std::string disagreement_with_sgemm(const Case&, const Operands&, const Reference&);

}  // namespace assay
