// cuBLAS as a reference: for large problems, in double precision, and as a second opinion.
#pragma once

#include <optional>
#include <string>

#include "oracle/reference.h"

namespace assay {

// Nothing where the host is fast enough, or where NaN and infinities are involved. Samples of it
// are checked on the host; throws std::runtime_error if one is wrong.
std::optional<Reference> make_device_reference(const Case&, const Operands&);

// Why there is no cuBLAS, without which nothing is judged on a GPU; empty if there is one.
std::string why_no_cublas();

// Where Eigen, cuBLAS in double and cuBLAS in pedantic single precision do not agree on a case;
// empty if they do.
std::string disagreement_with_cublas(const Case&);

// The two halves of it, of any reference.
std::string disagreement_with_dgemm(const Case&, const Operands&, const Reference&);
std::string disagreement_with_sgemm(const Case&, const Operands&, const Reference&);

}  // namespace assay
