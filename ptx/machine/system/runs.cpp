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
  if (!memory.spare_met.empty()) {
    met_ = std::move(memory.spare_met.back());
    memory.spare_met.pop_back();
  }
  if (met_.size() < kernel.code.size()) met_.resize(kernel.code.size());
  if (s.counts) counter = std::make_unique<Counter>(kernel);
  if (s.most_watched != 0) watch = std::make_unique<Watch>(kernel, s.most_watched);
  code_ = counter ? counter->code() : watch ? watch->code() : kernel.code.data();
  shared_bytes =
      static_cast<uint32_t>((kernel.facts.static_shared + l.dynamic_shared + 15) / 16 * 16);
}
// Most operations have met nothing, so that clearing what the others met costs less than new
// memory.
Run::~Run() {
  --memory.under_way;
  for (const uint32_t number : who_met_) met_[number] = {};
  memory.spare_met.push_back(std::move(met_));
}
void Run::meet(const Unordered* other) {
  const auto is_before = [](const Unordered* a, const Unordered* b) {
    return a->numbers.first < b->numbers.first;
  };
  unordered.insert(std::upper_bound(unordered.begin(), unordered.end(), other, is_before), other);
}
uint64_t Run::draw() { return random = assay::scramble(random); }

}  // namespace ptx
