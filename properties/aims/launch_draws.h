// Problems for launch functions that run no kernel, and so cost nothing: sizes, distances, scalars
// and addresses of every kind and magnitude.
#pragma once

#include <cstdint>
#include <vector>

#include "oracle/watched/dry_launches.h"
#include "properties/draws/dice.h"

namespace assay {

class LaunchDraws {
 public:
  explicit LaunchDraws(const Needs& needs) : needs_(needs) {}

  // Often changes one thing in the one before, or in one of those kept.
  DryLaunch draw();
  // What a kernel may confuse with another one that it follows.
  DryLaunch draw_after(const DryLaunch&);
  void keep(const DryLaunch&);  // changes it now and then
  // Drawn with their neighbours and multiples as sizes and distances, and as scalars.
  void use(std::vector<std::int64_t> whole, std::vector<float> floats);
  void limit_products(double most) { most_products_ = most; }
  void limit_sizes();  // to half of what they were

 private:
  DryLaunch anew();
  DryLaunch changed(DryLaunch);
  DryLaunch fitted(DryLaunch) const;
  std::int64_t size();
  std::int64_t gap(std::int64_t row);
  float scalar();
  void lessen(Case&) const;
  void set_sizes(Case&);
  void set_gaps(Case&);
  void set_scalars(Case&);
  void set_addresses(DryLaunch&);

  const Needs& needs_;
  Dice dice_{7};
  double most_products_ = 0;
  std::int64_t largest_ = std::int64_t{1} << 31;
  DryLaunch last_;
  std::vector<DryLaunch> kept_;
  std::vector<std::int64_t> whole_;
  std::vector<float> floats_;
};

}  // namespace assay
