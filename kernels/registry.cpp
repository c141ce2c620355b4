#include "kernels/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <limits>
#include <numeric>
#include <set>
#include <stdexcept>

#include "kernels/left_out.h"

namespace assay {
namespace {

// Recipes store the arguments of a launch and compare them byte by byte: padding would differ.
static_assert(sizeof(Gemm) ==
              6 * sizeof(std::int64_t) + 3 * sizeof(const float*) + 2 * sizeof(float));

constexpr int largest_multiple = 4096, largest_side = 4096;

struct Listed {
  Entry entry;
  int position;
};

std::vector<Listed>& all() {
  static std::vector<Listed> entries;
  return entries;
}

std::vector<Entry>& all_watched() {
  static std::vector<Entry> entries;
  return entries;
}

std::string& current_source() {
  static std::string source;
  return source;
}

Entry with_watched_launch(Entry entry) {
  const bool by_nvcc = entry.backend == Backend::cuda || entry.backend == Backend::ptx;
  const Backend backend = by_nvcc ? Backend::simt : entry.backend;
  for (const Entry& watched : all_watched()) {
    if (watched.backend == backend && std::string_view(watched.variant.name) == entry.variant.name)
      entry.watched_launch = watched.variant.launch;
  }
  return entry;
}

std::vector<KernelFile>& expected() {
  static std::vector<KernelFile> files;
  return files;
}

std::span<const LeftOutFile>& left_out() {
  static std::span<const LeftOutFile> files;
  return files;
}

std::string multiple(const char* what, std::int64_t value, int of) {
  return value % of == 0 ? "" : fmt::format("{} = {} is not a multiple of {}", what, value, of);
}

std::string range(const char* what, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value < least) return fmt::format("{} = {} is less than {}", what, value, least);
  return value > most ? fmt::format("{} = {} is more than {}", what, value, most) : "";
}

// Takes a problem that is not malformed.
std::string spread(const char* what, std::int64_t rows, std::int64_t columns, std::int64_t ld) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (rows == 0 || columns <= most - (rows - 1) * static_cast<double>(ld)) return "";
  return fmt::format("{} spreads over more than 2^31 - 1 elements", what);
}

std::string alignment(const char* what, const float* p, int bytes) {
  const auto past = reinterpret_cast<std::uintptr_t>(p) % static_cast<std::uintptr_t>(bytes);
  return past == 0
             ? ""
             : fmt::format("{} begins {} bytes past a multiple of {} bytes", what, past, bytes);
}

std::string malformed(const Gemm& g) {
  const auto negative = [](const char* what, std::int64_t value) {
    return value < 0 ? fmt::format("{} = {} is negative", what, value) : "";
  };
  const auto short_row = [](const char* what, std::int64_t ld, std::int64_t row) {
    return ld < row ? fmt::format("{} = {} is less than a row of {}", what, ld, row) : "";
  };
  for (const auto& reason :
       {negative("m", g.m), negative("n", g.n), negative("k", g.k), short_row("lda", g.lda, g.k),
        short_row("ldb", g.ldb, g.n), short_row("ldc", g.ldc, g.n)}) {
    if (!reason.empty()) return reason;
  }
  return {};
}

bool is_name(const char* name) {
  if (name == nullptr || *name == '\0') return false;
  return std::all_of(name, name + std::strlen(name), [](unsigned char letter) {
    return std::isalnum(letter) != 0 || letter == '_';
  });
}

// Why no size meets what is needed of one dimension, or of all that are to be equal.
std::string flaw_in_sizes(const char* what, std::int64_t least, std::int64_t most,
                          std::int64_t of) {
  if (least < 0) return fmt::format("it needs {} of at least {}", what, least);
  if (most >= least && most / of * of >= least) return {};
  return fmt::format("no {} is at least {}, at most {} and a multiple of {}", what, least, most,
                     of);
}
std::string flaw_in_sizes(const Needs& needs) {
  if (needs.square) {
    return flaw_in_sizes(
        "m = n = k", std::max({needs.m_least, needs.n_least, needs.k_least}),
        std::min({needs.m_most, needs.n_most, needs.k_most}),
        std::lcm(std::lcm<std::int64_t>(needs.m_multiple, needs.n_multiple), needs.k_multiple));
  }
  for (const std::string& flaw :
       {flaw_in_sizes("m", needs.m_least, needs.m_most, needs.m_multiple),
        flaw_in_sizes("n", needs.n_least, needs.n_most, needs.n_multiple),
        flaw_in_sizes("k", needs.k_least, needs.k_most, needs.k_multiple)}) {
    if (!flaw.empty()) return flaw;
  }
  return {};
}

// Why no variant can keep to this record; empty if one can.
std::string flaw_in_record(const Variant& variant) {
  if (variant.idea == nullptr) return "it has no idea: say it in one sentence";
  if (variant.launch == nullptr) return "it has no launch function";
  if (variant.launch.takes_workspace() != (variant.workspace != nullptr)) {
    return variant.launch.takes_workspace()
               ? "its launch takes workspace, and it does not say how much"
               : "it asks for workspace, and its launch does not take it";
  }
  const Needs& needs = variant.needs;
  const Tile& tile = variant.tile;
  for (const int multiple : {needs.m_multiple, needs.n_multiple, needs.k_multiple,
                             needs.lda_multiple, needs.ldb_multiple, needs.ldc_multiple}) {
    if (multiple < 1 || multiple > largest_multiple)
      return fmt::format("it needs a multiple of {}: it takes 1 to {}", multiple, largest_multiple);
  }
  if (std::string flaw = flaw_in_sizes(needs); !flaw.empty()) return flaw;
  for (const int bytes : {needs.a_alignment, needs.b_alignment, needs.c_alignment}) {
    if (bytes < 4 || bytes > 256 || (bytes & (bytes - 1)) != 0)
      return fmt::format("it needs an alignment of {} bytes: it takes a power of 2 from 4 to 256",
                         bytes);
  }
  for (const int side : {tile.m, tile.n, tile.k}) {
    if (side < 1 || side > largest_side)
      return fmt::format("a side of its tile is {}: it takes 1 to {}", side, largest_side);
  }
  return {};
}

// Refuses two variants of one name and backend too: only one of them could ever be chosen.
void require_sound_records(const std::vector<Entry>& entries) {
  std::set<std::pair<std::string, Backend>> names;
  for (const auto& [variant, backend, watched_launch, source, _] : entries) {
    if (!is_name(variant.name)) {
      throw BadVariant(fmt::format(
          "a variant is registered as '{}': a name is made of letters, digits and underscores",
          variant.name == nullptr ? "" : variant.name));
    }
    if (const std::string why = flaw_in_record(variant); !why.empty())
      throw BadVariant(fmt::format("the variant {}: {}", variant.name, why));
    if (!names.emplace(variant.name, backend).second) {
      throw BadVariant(fmt::format(
          "two variants are registered as '{}': give one of them another .name", variant.name));
    }
  }
}

void require_variant_of(const KernelFile& file) {
  const bool has_one = std::any_of(all().begin(), all().end(), [&](const Listed& listed) {
    const Backend backend = listed.entry.backend;
    return listed.position == file.position &&
           (backend == Backend::host ? Backend::simt : backend) == file.backend;
  });
  if (!has_one) {
    throw BadVariant(fmt::format(
        "{} registers no variant{}: end it with a Registrar, as kernels/gemm.h shows, or take its "
        "line out of kernels/CMakeLists.txt",
        file.path,
        file.backend == Backend::simt ? "" : fmt::format(" for {}", to_string(file.backend))));
  }
}

}  // namespace

void expect_variants_of(std::span<const KernelFile> files) {
  expected().insert(expected().end(), files.begin(), files.end());
}

void forget_variants() {
  all().clear();
  all_watched().clear();
  expected().clear();
  left_out() = {};
}

void leave_out(std::span<const LeftOutFile> files) { left_out() = files; }

std::string why_left_out(const std::string& variant) {
  for (const LeftOutFile& file : left_out()) {
    if (file.words.find(fmt::format(" {} ", variant)) == file.words.npos) continue;
    return fmt::format("{} is not in this build: {} takes {}, so configure with the preset {}",
                       variant, file.path, file.needs, file.preset);
  }
  return "";
}

void coming_from(std::string source) { current_source() = std::move(source); }

void register_variant(const Variant& variant, Backend backend, int position) {
  auto& entries = all();
  const auto after = std::find_if(entries.begin(), entries.end(),
                                  [&](const Listed& l) { return l.position > position; });
  entries.insert(after,
                 {{.variant = variant, .backend = backend, .source = current_source()}, position});
}

void register_watched(const Variant& variant, Backend backend) {
  all_watched().push_back({variant, backend});
}

std::vector<Entry> registered() {
  std::vector<Entry> entries;
  for (const auto& listed : all()) entries.push_back(listed.entry);
  require_sound_records(entries);
  for (const KernelFile& file : expected()) require_variant_of(file);
  for (Entry& entry : entries) entry = with_watched_launch(entry);
  return entries;
}

Entry entry_named(std::string_view name, Backend backend) {
  for (const auto& [entry, position] : all()) {
    if (entry.variant.name == name && entry.backend == backend) return with_watched_launch(entry);
  }
  throw std::out_of_range(fmt::format("no variant {} for {}", name, to_string(backend)));
}

Variant registered(const char* name, Backend backend) { return entry_named(name, backend).variant; }

std::string_view to_string(Backend backend) {
  switch (backend) {
    case Backend::simt: return "simt";
    case Backend::ptx: return "ptx";
    case Backend::cuda: return "cuda";
    case Backend::host: return "host";
  }
  return "unknown";
}

std::string_view to_string(Arithmetic arithmetic) {
  switch (arithmetic) {
    case Arithmetic::fp32: return "fp32";
    case Arithmetic::tf32: return "tf32";
    case Arithmetic::tf32x3: return "tf32x3";
  }
  return "unknown";
}

std::string_view to_string(Order order) {
  return order == Order::one_fma_chain ? "one fma chain" : "unspecified";
}

std::string refusal(const Variant& variant, const Gemm& g) {
  if (std::string reason = malformed(g); !reason.empty()) return reason;
  const Needs& needs = variant.needs;
  for (const auto& reason :
       {range("m", g.m, needs.m_least, needs.m_most), range("n", g.n, needs.n_least, needs.n_most),
        range("k", g.k, needs.k_least, needs.k_most), multiple("m", g.m, needs.m_multiple),
        multiple("n", g.n, needs.n_multiple), multiple("k", g.k, needs.k_multiple),
        multiple("lda", g.lda, needs.lda_multiple), multiple("ldb", g.ldb, needs.ldb_multiple),
        multiple("ldc", g.ldc, needs.ldc_multiple), alignment("A", g.a, needs.a_alignment),
        alignment("B", g.b, needs.b_alignment), alignment("C", g.c, needs.c_alignment)}) {
    if (!reason.empty()) return reason;
  }
  if (needs.square && (g.m != g.n || g.n != g.k)) return "m, n and k are not equal";
  for (const auto& reason :
       {spread("A", g.m, g.k, g.lda), spread("B", g.k, g.n, g.ldb), spread("C", g.m, g.n, g.ldc)}) {
    if (needs.int_indices && !reason.empty()) return reason;
  }
  if (needs.packed && (g.lda != g.k || g.ldb != g.n || g.ldc != g.n))
    return "the matrices are not packed";
  if (needs.alpha_one && g.alpha != 1) return fmt::format("alpha = {} is not 1", g.alpha);
  if (needs.beta_zero && g.beta != 0) return fmt::format("beta = {} is not 0", g.beta);
  return {};
}

std::int64_t workspace_of(const Variant& variant, const Gemm& gemm) {
  return variant.workspace == nullptr ? 0 : variant.workspace(gemm);
}

std::vector<std::string> describe(const Needs& needs) {
  std::vector<std::string> phrases;
  const auto say_range = [&](const char* what, std::int64_t least, std::int64_t most) {
    if (least > 0) phrases.push_back(fmt::format("{} at least {}", what, least));
    if (most < any_size) phrases.push_back(fmt::format("{} at most {}", what, most));
  };
  say_range("m", needs.m_least, needs.m_most);
  say_range("n", needs.n_least, needs.n_most);
  say_range("k", needs.k_least, needs.k_most);
  if (needs.square) phrases.push_back("m = n = k");
  const auto say_multiple = [&](const char* what, int of) {
    if (of > 1) phrases.push_back(fmt::format("{} a multiple of {}", what, of));
  };
  say_multiple("m", needs.m_multiple);
  say_multiple("n", needs.n_multiple);
  say_multiple("k", needs.k_multiple);
  say_multiple("lda", needs.lda_multiple);
  say_multiple("ldb", needs.ldb_multiple);
  say_multiple("ldc", needs.ldc_multiple);
  const auto say_alignment = [&](const char* what, int bytes) {
    if (bytes > 4) phrases.push_back(fmt::format("{} aligned to {} bytes", what, bytes));
  };
  say_alignment("A", needs.a_alignment);
  say_alignment("B", needs.b_alignment);
  say_alignment("C", needs.c_alignment);
  if (needs.packed) phrases.push_back("packed matrices");
  if (needs.int_indices) phrases.push_back("matrices that spread over less than 2^31 elements");
  if (needs.alpha_one) phrases.push_back("alpha = 1");
  if (needs.beta_zero) phrases.push_back("beta = 0");
  if (needs.compute_capability > 0)
    phrases.push_back(fmt::format("sm_{} or newer", needs.compute_capability));
  return phrases;
}

}  // namespace assay
