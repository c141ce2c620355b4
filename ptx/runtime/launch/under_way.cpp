#include "ptx/runtime/launch/under_way.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/scramble.h"

namespace ptx::runtime {

namespace {
constexpr std::uint64_t to_its_end = ~std::uint64_t{0};
}

void UnderWay::begin(One one, const Unordered& as, std::optional<std::uint64_t> pause) {
  for (One& other : all_) other.launch.meet(as);
  const Place place = all_.insert(all_.end(), std::move(one));
  if (pause) random_ = assay::scramble(*pause);
  constexpr std::uint64_t most = 7;  // of small problems each has some turns, of which one is last
  go_on_with(place, pause ? std::uint64_t{1} << random_ % most : to_its_end);
}

void UnderWay::go_on_with(Place place, std::uint64_t most) {
  try {
    take_turns(place, most);
  } catch (...) {
    forget();
    throw;
  }
}

void UnderWay::take_turns(Place place, std::uint64_t most) {
  const bool is_alone = all_.size() == 1;
  if (is_alone) place->launch.go_on(most);
  for (std::uint64_t turns = is_alone ? most : 0; turns < most && !place->launch.is_over();) {
    random_ = assay::scramble(random_);
    const Place next = std::next(all_.begin(), static_cast<std::ptrdiff_t>(random_ % all_.size()));
    next->launch.go_on(1);
    if (next == place)
      ++turns;
    else if (next->launch.is_over())
      end(next);
  }
  if (place->launch.is_over()) end(place);
}

void UnderWay::end(Place place) {
  One one = std::move(*place);
  all_.erase(place);
  one.end(one.launch.end());
}

void UnderWay::finish(const Known& known) {
  const auto is_part = [&](const One& one) { return known.covers(one.self); };
  const auto next = [&] { return std::find_if(all_.begin(), all_.end(), is_part); };
  for (Place one = next(); one != all_.end(); one = next()) go_on_with(one, to_its_end);
}

void UnderWay::finish_all() {
  while (!all_.empty()) go_on_with(all_.begin(), to_its_end);
}

}  // namespace ptx::runtime
