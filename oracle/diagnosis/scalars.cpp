// Mistakes with alpha and beta.
#include <fmt/format.h>

#include <cmath>

#include "oracle/diagnosis/evidence.h"

namespace assay {

namespace {

Diagnosis rounded_scalar(const Evidence& e) {
  struct Format {
    const char* name;
    int bits;
  };
  for (const auto& [name, bits] : {Format{"TF32 (or FP16)", 10}, {"BF16", 7}}) {
    for (const bool of_alpha : {true, false}) {
      const double alpha = of_alpha ? rounded(e.c().alpha, bits) : e.c().alpha;
      const double beta = of_alpha ? e.c().beta : rounded(e.c().beta, bits);
      if (e.explains([&](Place p) { return alpha * e.product(p) + beta * e.old_c(p); }))
        return {{of_alpha ? Fault::alpha : Fault::beta},
                fmt::format("{} was rounded to {}", of_alpha ? "alpha" : "beta", name)};
    }
  }
  return {};
}

}  // namespace

Diagnosis mistaken_scalars(const Evidence& e) {
  const double alpha = e.c().alpha, beta = e.c().beta;
  const auto product = [&](Place p) { return e.product(p); };
  const auto c = [&](Place p) { return e.old_c(p); };
  struct Mistake {
    Fault fault;
    const char* words;
    Mistaken mistaken;
  };
  const std::vector<Mistake> mistakes = {
      // With beta 0 there was nothing to leave unchanged but poison, which is looked at before.
      {Fault::unwritten, "C is unchanged there",
       [&](Place p) { return beta == 0 ? std::nan("") : c(p); }},
      {Fault::beta, "beta * C is missing", [&](Place p) { return alpha * product(p); }},
      {Fault::beta, "C was added without beta", [&](Place p) { return alpha * product(p) + c(p); }},
      {Fault::beta, "beta was applied twice",
       [&](Place p) { return alpha * product(p) + beta * beta * c(p); }},
      {Fault::beta, "beta * C was added twice",
       [&](Place p) { return alpha * product(p) + 2 * beta * c(p); }},
      {Fault::beta, "beta * C was subtracted",
       [&](Place p) { return alpha * product(p) - beta * c(p); }},
      {Fault::beta, "C was multiplied by alpha instead of beta",
       [&](Place p) { return alpha * product(p) + alpha * c(p); }},
      {Fault::alpha, "alpha is missing", [&](Place p) { return product(p) + beta * c(p); }},
      {Fault::alpha, "alpha was applied twice",
       [&](Place p) { return alpha * alpha * product(p) + beta * c(p); }},
      {Fault::alpha, "alpha was applied to beta * C too",
       [&](Place p) { return alpha * (product(p) + beta * c(p)); }},
      {Fault::no_product, "alpha * A * B is missing", [&](Place p) { return beta * c(p); }},
      {Fault::no_product, "alpha * A * B was added twice",
       [&](Place p) { return 2 * alpha * product(p) + beta * c(p); }},
      {Fault::no_product, "alpha * A * B was subtracted",
       [&](Place p) { return beta * c(p) - alpha * product(p); }},
      {Fault::alpha, "beta was applied to alpha * A * B too",
       [&](Place p) { return beta * (alpha * product(p) + c(p)); }},
      {Fault::alpha, "alpha and beta were swapped",
       [&](Place p) { return beta * product(p) + alpha * c(p); }},
      {Fault::unwritten, "they are 0", [](Place) { return 0.0; }},
  };
  const bool counts = e.is_no_coincidence(static_cast<double>(mistakes.size()));
  for (const auto& [fault, words, mistaken] : mistakes) {
    if (counts && e.explains(mistaken)) return {{fault}, words};
  }
  return rounded_scalar(e);
}

}  // namespace assay
