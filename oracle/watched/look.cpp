#include "oracle/watched/look.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "base/silence.h"
#include "oracle/diagnosis/whereabouts.h"
#include "oracle/plan.h"
#include "oracle/watched/sparse.h"
#include "simt/access.h"
#include "simt/simt.h"

namespace assay {
namespace {

constexpr std::int64_t float_bytes = sizeof(float);
constexpr std::int64_t filled_floats = 1 << 11;
constexpr std::int64_t most_elements_of_c = 1 << 22;  // whose writing is kept in mind

// An operand, in bytes from its first element on.
struct Rows {
  explicit Rows(const Placed& p)
      : first(p.first),
        row(p.columns * float_bytes),
        pitch(p.rows > 1 ? p.ld * float_bytes : row),
        span(p.rows == 0 || p.columns == 0 ? 0 : (p.rows - 1) * pitch + row) {}

  // How many bytes from `at` on are elements, up to a gap. Packed rows are one long row.
  std::int64_t elements_from(std::int64_t at) const {
    if (at < 0 || at >= span) return 0;
    return pitch == row ? span - at : std::max<std::int64_t>(0, row - at % pitch);
  }
  std::int64_t index(std::int64_t at) const {  // of an element, packed
    return (at / pitch * row + at % pitch) / float_bytes;
  }

  const std::byte* first;
  std::int64_t row, pitch, span;
};

class Looker : public simt::AccessJudge {
 public:
  struct Found {
    simt::Access access;
    Operand operand;
    std::int64_t from, outside;  // bytes: to the access from the first element; of it, no elements'
  };

  Looker(const ByOperand<Placed>& placed, Forbidden forbidden, std::uint64_t most_accesses)
      : left_(most_accesses),
        rows_{Rows(placed[0]), Rows(placed[1]), Rows(placed[2]), Rows(placed[3])},
        forbidden_(forbidden) {
    const Placed& c = placed[static_cast<std::size_t>(Operand::c)];
    if (forbidden == Forbidden::reading_c)
      written_.resize(static_cast<std::size_t>(c.rows * c.columns));
  }

  bool allows(const simt::Access& access) override {
    if (left_ == 0) return false;
    --left_;
    for (Operand o : operands_and_workspace) {
      const Rows& rows = rows_[static_cast<std::size_t>(o)];
      const std::int64_t from = static_cast<const std::byte*>(access.address) - rows.first;
      const auto bytes = static_cast<std::int64_t>(access.bytes);
      if (from + bytes <= -Sparse::fence || from >= rows.span + Sparse::fence) continue;
      const std::int64_t outside = forbidden_in(access, o, from, bytes);
      if (outside > 0) found_ = {access, o, from, outside};
      return outside == 0;
    }
    return true;
  }

  const std::optional<Found>& found() const { return found_; }

 private:
  // How many of its bytes an access to an operand may not touch.
  std::int64_t forbidden_in(const simt::Access& access, Operand o, std::int64_t from,
                            std::int64_t bytes) {
    const Rows& rows = rows_[static_cast<std::size_t>(o)];
    switch (forbidden_) {
      case Forbidden::reading_outside:
        return access.reads ? bytes - std::min(bytes, rows.elements_from(from)) : 0;
      case Forbidden::writing_outside:
        if (!access.writes) return 0;
        return is_input(o) ? bytes : bytes - std::min(bytes, rows.elements_from(from));
      case Forbidden::reading_c: return o == Operand::c ? unwritten(access, from, bytes) : 0;
    }
    return 0;
  }

  // Only elements count: what lies outside them is another matter.
  std::int64_t unwritten(const simt::Access& access, std::int64_t from, std::int64_t bytes) {
    const Rows& c = rows_[static_cast<std::size_t>(Operand::c)];
    std::int64_t count = 0;
    for (std::int64_t at = from - from % float_bytes; at < from + bytes; at += float_bytes) {
      if (c.elements_from(at) == 0) continue;
      char& written = written_[static_cast<std::size_t>(c.index(at))];
      if (access.reads && written == 0) count += float_bytes;
      if (access.writes) written = 1;
    }
    return std::min(count, bytes);
  }

  std::uint64_t left_;
  const ByOperand<Rows> rows_;
  const Forbidden forbidden_;
  std::vector<char> written_;  // elements of C
  std::optional<Found> found_;
};

// Such as "reads between the rows of B, at row 0, column 5, but n = 5: 12 of 16 bytes of thread
// (1,0,0) of block (0,0,0)".
class Description {
 public:
  Description(const Looker::Found& found, const ByOperand<Placed>& placed,
              const std::string& thread)
      : found_(found), placed_(placed), thread_(thread) {}

  Look of(Forbidden forbidden) const {
    const Operand o = found_.operand;
    switch (forbidden) {
      case Forbidden::reading_c:
        return look({Fault::read_old_c, o},
                    fmt::format("reads C at {}, although beta is 0 and nobody has written it",
                                element(found_.from)));
      case Forbidden::reading_outside:
        return outside("reads", is_in_gap() ? Fault::read_gap : Fault::read_outside);
      case Forbidden::writing_outside: break;
    }
    if (!is_input(o)) return outside("writes", Fault::wrote_beside);
    if (rows().elements_from(found_.from) == 0) return outside("writes", Fault::wrote_input);
    return look({Fault::wrote_input, o},
                fmt::format("writes to {}, which is only to be read, at {}", to_string(o),
                            element(found_.from)));
  }

 private:
  const Placed& placed() const { return placed_[static_cast<std::size_t>(found_.operand)]; }
  Rows rows() const { return Rows(placed()); }
  std::string element(std::int64_t at) const {
    const std::int64_t index = at / float_bytes;
    return fmt::format("row {}, column {}", index / placed().ld, index % placed().ld);
  }

  // The first byte that is no element's, and whether others follow in the same matrix.
  std::int64_t first_outside() const { return found_.from + rows().elements_from(found_.from); }
  bool is_in_gap() const { return first_outside() >= 0 && first_outside() < rows().span; }
  Look outside(const char* verb, Fault fault) const {
    const Diagnosis where =
        whereabouts(placed().first + first_outside(), placed_, {Sparse::fence, 0});
    if (where.finding.fault == Fault::index_overflow)
      return look(where.finding, fmt::format("{} outside the matrices, {}", verb, where.words));
    return look({fault, found_.operand}, fmt::format("{} {}", verb, where.words));
  }

  Look look(const Finding& finding, const std::string& words) const {
    const auto bytes = static_cast<std::int64_t>(found_.access.bytes);
    const std::string part =
        found_.outside < bytes ? fmt::format("{} of {} bytes of ", found_.outside, bytes) : "";
    return {.finding = finding,
            .words = fmt::format("{}: {}{}", words, part, thread_),
            .code = found_.access.code};
  }

  const Looker::Found& found_;
  const ByOperand<Placed>& placed_;
  const std::string& thread_;
};

Placed placed(const Sparse& memory, std::int64_t rows, std::int64_t columns, std::int64_t ld) {
  return {reinterpret_cast<const std::byte*>(memory.first()), rows, columns, ld};
}

}  // namespace

Look look_at_accesses(const Entry& entry, const Case& c, Forbidden forbidden,
                      std::uint64_t most_accesses) {
  const bool remembers_c = forbidden == Forbidden::reading_c;
  if (is_too_large(c) || (remembers_c && c.m * c.n > most_elements_of_c)) return {};
  Sparse a(c.m, c.k + c.lda.floats, c.offset.floats[0]);
  Sparse b(c.k, c.n + c.ldb.floats, c.offset.floats[1]);
  Sparse result(c.m, c.n + c.ldc.floats, c.offset.floats[2]);
  a.fill(c.fill, c.seed, filled_floats);
  b.fill(c.fill, c.seed + 1, filled_floats);
  Given gemm{gemm_of(c, a.first(), b.first(), result.first())};
  if (!refusal(entry.variant, gemm).empty()) return {};
  const auto workspace = give_workspace(entry.variant, gemm);

  const ByOperand<Placed> operands = {placed(a, c.m, c.k, gemm.lda), placed(b, c.k, c.n, gemm.ldb),
                                      placed(result, c.m, c.n, gemm.ldc),
                                      workspace ? workspace->placed() : Placed{}};
  Looker looker(operands, forbidden, most_accesses);
  const simt::Settings settings = {
      .order = c.seed % 2 == 0 ? simt::Order::forward : simt::Order::reverse,
      .seed = c.seed,
      .ordinary_shared = has_ordinary_shared(c),
      .access_judge = &looker};
  const Silence silence;
  const simt::Observation seen = simt::observe(settings, [&] {
    try {
      entry.watched_launch(gemm, nullptr, gemm.workspace);
    } catch (const std::exception&) {  // which a trial reports
    }
  });
  if (looker.found()) return Description(*looker.found(), operands, seen.fault->text).of(forbidden);
  return {.whole = !seen.fault && seen.kernels > 0};
}

}  // namespace assay
