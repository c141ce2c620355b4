#include "ptx/machine/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "ptx/machine/block.h"

namespace ptx {
namespace {

constexpr std::size_t alignment = 512;          // as a texture wants it
constexpr std::uint32_t poison = 0x7f85eedd;    // a signalling NaN
constexpr std::size_t most_poisoned = 1 << 26;  // bytes: what nobody touches of more costs nothing
constexpr std::size_t most_spare = 4, least_spare_words = 1 << 16, most_spare_words = 1 << 21;

// Little memory is had for less from the heap.
constexpr std::size_t little = 1 << 16;

// Large pages are had for less where all of them is touched.
std::size_t most_in_large_pages(Touched touched) {
  constexpr std::size_t if_usual = 1 << 26, if_densely = 1 << 28;
  return touched == Touched::densely ? if_densely : touched == Touched::sparsely ? 0 : if_usual;
}

}  // namespace

template <class T>
LazyArray<T>::LazyArray(std::size_t count, Touched touched) : count_(count) {
  if (count * sizeof(T) < little) {
    items_ = static_cast<T*>(std::calloc(count, sizeof(T)));
    if (items_ == nullptr) throw std::bad_alloc();
    return;
  }
  void* memory = mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  items_ = static_cast<T*>(memory);
  if (count * sizeof(T) <= most_in_large_pages(touched))
    madvise(memory, count * sizeof(T), MADV_HUGEPAGE);
}
template <class T>
LazyArray<T>::~LazyArray() {
  if (items_ == nullptr) return;
  if (count_ * sizeof(T) < little)
    std::free(items_);
  else
    munmap(items_, count_ * sizeof(T));
}
template class LazyArray<std::uint32_t>;
template class LazyArray<std::uint8_t>;

Memory::Contents::Contents() = default;
Memory::Contents::~Contents() = default;

Region* Memory::Contents::at(std::uint64_t address) {
  auto after = regions.upper_bound(address);
  if (after == regions.begin()) return nullptr;
  Region* region = std::prev(after)->second.get();
  return address < region->end ? region : nullptr;
}

const Region* Memory::Contents::nearest(std::uint64_t address) const {
  const Region* best = nullptr;
  std::uint64_t least = ~std::uint64_t{0};
  for (const auto& [first, region] : regions) {
    const std::uint64_t far = address < first ? first - address : address - region->end;
    if (far < least) {
      least = far;
      best = region.get();
    }
  }
  return best;
}

namespace {
void forget_parts(Region& region) {
  if (region.parts.empty()) return;
  for (const auto& [word, _] : region.parts) region.traces.set(word, {}, 0);
  region.parts.clear();
  region.entered.clear();
}
void forget_all(Region& region) {
  region.traces = {}, region.traced_after = 0;
  region.parts.clear();
  region.entered.clear();
}
}  // namespace

void Memory::Contents::give_traces(Region& region) {
  const std::size_t count = (region.end - region.area.first) / 4 + 1;
  const auto fits = std::find_if(spare_traces_.begin(), spare_traces_.end(),
                                 [&](const auto& spare) { return spare.size() >= count; });
  if (fits == spare_traces_.end()) {
    // The next regions will be of other sizes. What they do not touch costs nothing.
    const std::size_t roomy = std::max(std::bit_ceil(count), least_spare_words);
    region.traces = Traces(roomy <= most_spare_words ? roomy : count,
                           region.is_dense() ? Touched::densely : Touched::as_usual);
    return;
  }
  region.entered.clear();
  region.traces = std::move(*fits);
  region.traced_after = last_quiet_;
  spare_traces_.erase(fits);
}

void Memory::Contents::erase(std::uint64_t first) {
  const auto found = regions.find(first);
  if (found == regions.end()) return;
  forget_parts(*found->second);
  Traces& traces = found->second->traces;
  // What holds numbers of launches under way would be taken for traces of the next region.
  if (under_way == 0 && traces.size() != 0 && traces.size() <= most_spare_words) {
    spare_traces_.push_back(std::move(traces));
    const auto smaller = [](const Traces& a, const Traces& b) { return a.size() < b.size(); };
    std::sort(spare_traces_.begin(), spare_traces_.end(), smaller);
    if (spare_traces_.size() > most_spare) spare_traces_.erase(spare_traces_.begin());
  }
  regions.erase(found);
}

Numbering Memory::Contents::begin(std::uint64_t blocks, const Past& past) {
  const bool are_used_up = !has_numbers_for(blocks);
  if (are_used_up) spare_traces_.clear(), forget_told(), last_ = 0;
  for (auto& [_, region] : regions) {
    if (under_way == 0 && past.unordered.empty()) forget_parts(*region);
    if (are_used_up) forget_all(*region);
  }
  if (under_way == 0) last_quiet_ = last_, heap.freed.clear();
  std::uint32_t earlier = last_;
  if (!are_used_up)
    for (const Unordered& other : past.unordered)
      earlier = std::min(earlier, other.numbers.first - 1);
  const std::uint32_t others = last_ - earlier;
  for (const Unordered& other : past.unordered) enter(other.access, other.numbers.first);
  const std::uint32_t first = last_ + 1;
  last_ += static_cast<std::uint32_t>(blocks);
  return {earlier, others, {first, last_ + 1}};
}

void Memory::Contents::enter(const HostAccess& access, std::uint32_t number) {
  const auto address = reinterpret_cast<std::uint64_t>(access.first);
  Region* const region = access.first == nullptr ? nullptr : at(address);
  if (region == nullptr || !region->area.writable || number <= region->traced_after) return;
  if (region->traces.size() == 0) {
    region->traces = Traces((region->end - region->area.first) / 4 + 1);
    region->entered.clear();
  }
  const auto place = std::lower_bound(region->entered.begin(), region->entered.end(), number);
  if (place != region->entered.end() && *place == number) return;
  region->entered.insert(place, number);
  for (std::size_t row = 0; row < access.height; ++row) {
    const std::uint64_t begin = address + row * access.pitch;
    const std::size_t end = region->word(begin + access.width + 3);
    for (std::size_t word = region->word(begin); word < end; ++word) {
      std::uint32_t* const block =
          region->traces.at(access.writes ? Traces::write_block : Traces::read_block, word);
      if (*block < number) *block = number;
    }
  }
}

void Memory::Contents::unwrite(std::uint64_t first, std::size_t bytes) {
  Region* const region = at(first);
  if (region == nullptr) return;
  if (region->is_written.empty()) {
    const std::size_t words = (region->end - region->area.first) / 4 + 1;
    region->is_written = LazyArray<std::uint8_t>(words);
    std::memset(region->is_written.data(), 1, words);
  }
  for (std::size_t i = 0; i < bytes; i += 4) {
    region->is_written[region->word(first + i)] = 0;
    std::memcpy(region->area.bytes_at(first + i), &poison, 4);
  }
}

void Memory::Contents::insert(std::unique_ptr<Region> region) {
  region->traced_after = last_;
  erase(region->area.first);
  regions[region->area.first] = std::move(region);
}

std::unique_ptr<Region> Memory::Contents::take(std::uint64_t first) {
  std::unique_ptr<Region> taken = std::move(regions.extract(first).mapped());
  taken->end = first;
  return taken;
}

Memory::Memory() : contents_(std::make_unique<Contents>()) {}
Memory::~Memory() = default;

std::unique_ptr<Region> make_region(std::size_t bytes, std::string name, bool poisoned) {
  auto region = std::make_unique<Region>();
  region->own = LazyArray<std::uint8_t>(bytes + 2 * alignment);
  auto first = reinterpret_cast<std::uint64_t>(region->own.data());
  first += alignment - first % alignment;
  for (std::size_t i = 0; poisoned && i + 4 <= std::min(bytes, most_poisoned); i += 4)
    std::memcpy(reinterpret_cast<void*>(first + i), &poison, 4);
  region->area = {.name = std::move(name),
                  .first = first,
                  .row_bytes = bytes,
                  .pitch_bytes = bytes,
                  .written = false};
  region->end = first + bytes;
  region->is_written = LazyArray<std::uint8_t>(bytes / 4 + 1);
  return region;
}

namespace {
void hide(Region& region) {
  const std::uint64_t bytes = region.end - region.area.first;
  region.hidden = HiddenAddresses(bytes);
  region.area.away = region.area.first - region.hidden.first();
  region.area.first = region.hidden.first();
  region.end = region.area.first + bytes;
}
}  // namespace

void* Memory::allocate(std::size_t bytes, std::string name, bool poisoned, bool is_for_host_too) {
  if (bytes == 0) return nullptr;
  auto region = make_region(bytes, std::move(name), poisoned);
  if (contents_->hides && !is_for_host_too) hide(*region);
  const std::uint64_t first = region->area.first;
  contents_->insert(std::move(region));
  return reinterpret_cast<void*>(first);
}

void Memory::mark_constant(std::uint64_t first) { contents_->at(first)->area.is_constant = true; }

bool Memory::release(void* memory) {
  const auto found = contents_->regions.find(reinterpret_cast<std::uint64_t>(memory));
  if (found == contents_->regions.end() || found->second->own.empty()) return false;
  contents_->erase(found->first);
  return true;
}

void Memory::lend(const Area& area) {
  auto region = std::make_unique<Region>();
  region->area = area;
  region->end = area.rows == 0 ? area.first
                               : area.first + (area.rows - 1) * area.pitch_bytes + area.row_bytes;
  if (!area.written)
    region->is_written =
        LazyArray<std::uint8_t>((region->end - area.first) / 4 + 1, Touched::sparsely);
  contents_->insert(std::move(region));
}

void Memory::forget(std::uint64_t first) { contents_->erase(first); }

void Memory::hide_from_host(bool hides) { contents_->hides = hides; }
bool Memory::is_hidden_from_host() const { return contents_->hides; }

std::byte* Memory::bytes_at(const void* address) const {
  const auto at = reinterpret_cast<std::uint64_t>(address);
  const Area* const area = find(at);
  return area == nullptr ? reinterpret_cast<std::byte*>(at) : area->bytes_at(at);
}

const Area* Memory::find(std::uint64_t address) const {
  const Region* region = contents_->at(address);
  return region == nullptr ? nullptr : &region->area;
}

std::uint64_t Memory::add_texture(const Texture& texture) {
  const std::uint64_t handle = contents_->textures.next++;
  contents_->textures.all[handle] = texture;
  return handle;
}

bool Memory::remove_texture(std::uint64_t handle) {
  return contents_->textures.all.erase(handle) != 0;
}

void Memory::number_textures_anew() {
  if (contents_->textures.all.empty()) contents_->textures.next = 1;
}

bool Memory::has_numbers_for(std::uint64_t blocks) const {
  return contents_->has_numbers_for(blocks);
}
void Memory::forget_launches() { contents_->forget_told(); }

void Memory::mark_written(std::uint64_t first, std::size_t bytes) {
  Region* region = contents_->at(first);
  if (region == nullptr || region->is_written.empty()) return;
  for (std::size_t i = region->word(first), end = region->word(first + bytes + 3); i < end; ++i)
    region->is_written[i] = 1;
}

}  // namespace ptx
