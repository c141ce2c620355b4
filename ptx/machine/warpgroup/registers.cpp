// Registers that products of a warpgroup read or write on their own time.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "ptx/machine/block.h"
#include "ptx/machine/handlers.h"
#include "ptx/machine/warpgroup/warpgroup.h"

namespace ptx {
namespace {

enum class Use : std::uint8_t { reads, writes };

void report_early(const Op* op, Warp& w, Use use, const ProductRegister& r, bool is_result) {
  const Program::Kernel& kernel = w.block->run->kernel;
  const char* const does = use == Use::reads ? "reads" : "writes";
  const char* const did = is_result ? "writes" : "reads";
  report(w, op, Fault::data_race,
         fmt::format("{} {} a register ({}) that a wgmma ({}) {} on its own time: a "
                     "wgmma.wait_group for it is missing",
                     thread_text(w, std::countr_zero(w.mask)), does, place_of(kernel, *op),
                     place_of(kernel, *r.product), did),
         {.is_write = use == Use::writes, .sites = {site(w, does, op), site(w, did, r.product)}});
}

bool is_result_under_way(const Warpgroup::OfWarp& own, const ProductRegister& r) {
  return r.result_of > own.done;
}
bool is_read_under_way(const Warpgroup::OfWarp& own, const ProductRegister& r) {
  return r.read_by > own.done;
}

bool may_write(const Op* op, Warp& w, const Warpgroup::OfWarp& own, const ProductRegister& r) {
  const bool is_result = is_result_under_way(own, r) && !r.is_copy;
  if (!is_result && !is_read_under_way(own, r)) return true;
  report_early(op, w, Use::writes, r, is_result);
  return false;
}

// c: a list of how many registers an instruction reads, these, how many it writes, these.
const Op* touch_registers(const Op* op, Warp& w) {
  Warpgroup::OfWarp& own = part_of(w);
  const int* list = w.lists + op->c;
  for (int left = *list++; left > 0; --left) {
    ProductRegister& r = own.registers[static_cast<std::size_t>(*list++)];
    if (is_result_under_way(own, r)) {
      report_early(op, w, Use::reads, r, true);
      return nullptr;
    }
    r.read_behind = own.fences + 1, r.read = op;
  }
  for (int left = *list++; left > 0; --left) {
    ProductRegister& r = own.registers[static_cast<std::size_t>(*list++)];
    if (!may_write(op, w, own, r)) return nullptr;
    r = {.written_behind = own.fences + 1, .write = op};
  }
  return op + 1;
}

// d: where to, a: where from, or -1 for a constant. What a product is about to leave there may be
// moved around.
const Op* move_register(const Op* op, Warp& w) {
  Warpgroup::OfWarp& own = part_of(w);
  ProductRegister& to = own.registers[static_cast<std::size_t>(op->d)];
  const ProductRegister from =
      op->a < 0 ? ProductRegister{} : own.registers[static_cast<std::size_t>(op->a)];
  const bool is_under_way = is_result_under_way(own, from);
  if (is_result_under_way(own, to) && !to.is_copy) {
    if (is_under_way) return op + 1;
    report_early(op, w, Use::writes, to, true);
    return nullptr;
  }
  to = {.written_behind = from.written_behind,
        .read_behind = from.read_behind,
        .write = from.write,
        .read = from.read};
  if (is_under_way) to.result_of = from.result_of, to.product = from.product, to.is_copy = true;
  return op + 1;
}

bool report_unfenced(const Op* op, Warp& w, const char* did, const Op* access) {
  const Program::Kernel& kernel = w.block->run->kernel;
  report(w, op, Fault::data_race,
         fmt::format("{} begins a wgmma ({}) with a register that it {} ({}), and no wgmma.fence "
                     "lies between the two",
                     thread_text(w, 0), place_of(kernel, *op), did, place_of(kernel, *access)),
         {.sites = {site(w, "begins", op), site(w, did, access)}});
  return false;
}
bool is_fenced(const Op* op, Warp& w, const Warpgroup::OfWarp& own, const ProductRegister& r,
               Use use) {
  if (r.written_behind == own.fences + 1) return report_unfenced(op, w, "wrote", r.write);
  const bool was_read = use == Use::writes && r.read_behind == own.fences + 1;
  return !was_read || report_unfenced(op, w, "read", r.read);
}

}  // namespace

bool may_use_registers(const Op* op, Warp& w, const GroupProduct& o) {
  const Warpgroup::OfWarp& own = part_of(w);
  if (own.fences == 0) {
    report(w, op, Fault::data_race,
           fmt::format("{} begins its first wgmma, and no wgmma.fence comes before it",
                       thread_text(w, 0)));
    return false;
  }
  for (const int n : o.a_numbers) {
    const ProductRegister& r = own.registers[static_cast<std::size_t>(n)];
    if (is_result_under_way(own, r)) {
      report_early(op, w, Use::reads, r, true);
      return false;
    }
    if (!is_fenced(op, w, own, r, Use::reads)) return false;
  }
  for (const int n : o.d_numbers) {
    const ProductRegister& r = own.registers[static_cast<std::size_t>(n)];
    if (is_read_under_way(own, r)) {
      report_early(op, w, Use::writes, r, false);
      return false;
    }
    if (!is_fenced(op, w, own, r, Use::writes)) return false;
  }
  return true;
}

void give_registers(const Op* op, Warp& w, const GroupProduct& o, std::uint32_t number) {
  auto& registers = part_of(w).registers;
  for (const int n : o.a_numbers) {
    ProductRegister& r = registers[static_cast<std::size_t>(n)];
    r.read_by = number, r.product = op;
  }
  for (const int n : o.d_numbers) {
    ProductRegister& r = registers[static_cast<std::size_t>(n)];
    r.result_of = number, r.product = op, r.is_copy = false;
  }
}

void add_product_register_handlers(Handlers& to) {
  to["wgmma.touch"] = {touch_registers, ""};
  to["wgmma.move"] = {move_register, ""};
}

}  // namespace ptx
