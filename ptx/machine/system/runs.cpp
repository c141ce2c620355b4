// A launch, before any of its blocks runs.
#include <algorithm>

#include "base/scramble.h"
#include "ptx/machine/block.h"

namespace ptx {

using std::uint32_t;
using std::uint64_t;

Run::Run(const Launch& l, Memory& m, const Settings& s)
    : launch(l),
      kernel(*l.kernel),
      memory(m.contents()),
      settings(s),
      numbering(memory.begin(l.grid.count(), l.past)),
      late_stores(*this),
      random(assay::scramble(s.seed)) {
  if (memory.under_way++ == 0) {
    memory.turns_in_vain = 0;
    memory.shapes.make_room();  // others would still go by theirs
  }
  for (const Unordered& other : l.past.unordered) meet(&other);
  region_of.assign(kernel.code.size(), nullptr);
  shape_of.assign(kernel.code.size(), nullptr);
  target_of.assign(kernel.code.size(), nullptr);
  fits.assign(kernel.code.size(), {});
  if (s.counts) counter = std::make_unique<Counter>(kernel);
  if (s.most_watched != 0) watch = std::make_unique<Watch>(kernel, s.most_watched);
  shared_bytes =
      static_cast<uint32_t>((kernel.facts.static_shared + l.dynamic_shared + 15) / 16 * 16);
  shared_part.assign(kernel.code.size(), {0, shared_bytes});
  for (std::size_t n = 0; n < shared_part.size(); ++n) {
    if (kernel.array_of[n] < 0) continue;
    const SharedVariable& v = kernel.shared_variables[static_cast<std::size_t>(kernel.array_of[n])];
    shared_part[n].first = static_cast<uint32_t>(v.at);
    if (v.bytes != 0) shared_part[n].end = static_cast<uint32_t>(v.at + v.bytes);
  }
}
void Run::meet(const Unordered* other) {
  const auto is_before = [](const Unordered* a, const Unordered* b) {
    return a->numbers.first < b->numbers.first;
  };
  unordered.insert(std::upper_bound(unordered.begin(), unordered.end(), other, is_before), other);
}
uint64_t Run::draw() { return random = assay::scramble(random); }

}  // namespace ptx
