#include "door/library.h"

#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <array>
#include <utility>

#include "base/errors.h"
#include "door/assay.h"
#include "door/assay_library.h"
#include "kernels/registry.h"

namespace assay {
namespace {

constexpr const char* table_name = "assay_library_table";

// Variants of all libraries. A launch is a function and nothing else: each variant has one here.
constexpr std::size_t most_variants = 512;
std::array<const assay_variant*, most_variants> variants;
std::size_t variants_taken = 0;

bool is_by_columns(const assay_variant& variant) { return variant.layout == ASSAY_COLUMN_MAJOR; }

assay_gemm as_given(const assay_variant& variant, const Gemm& by_row) {
  const Gemm g = is_by_columns(variant) ? adapter::by_columns(by_row) : by_row;
  return {g.m, g.n, g.k, g.alpha, g.beta, g.a, g.lda, g.b, g.ldb, g.c, g.ldc};
}

template <std::size_t i>
cudaError_t launch_in(const Gemm& g, cudaStream_t stream, void* workspace) {
  const assay_gemm given = as_given(*variants[i], g);
  return static_cast<cudaError_t>(variants[i]->launch(&given, stream, workspace));
}
template <std::size_t i>
cudaError_t launch(const Gemm& g, cudaStream_t stream) {
  return launch_in<i>(g, stream, nullptr);
}
template <std::size_t i>
std::int64_t workspace(const Gemm& g) {
  const assay_gemm given = as_given(*variants[i], g);
  return variants[i]->workspace(&given);
}

struct Calls {
  Launch::Function launch;
  Launch::InWorkspace launch_in;
  std::int64_t (*workspace)(const Gemm&);
};
template <std::size_t... i>
constexpr std::array<Calls, sizeof...(i)> calls_of(std::index_sequence<i...>) {
  return {{{&launch<i>, &launch_in<i>, &workspace<i>}...}};
}
constexpr auto calls = calls_of(std::make_index_sequence<most_variants>());

// 0 stands for what asks for nothing.
template <class Number>
void take(Number& value, Number said) {
  if (said != 0) value = said;
}

Needs needs_of(const assay_needs& said) {
  Needs needs;
  take(needs.m_multiple, said.m_multiple);
  take(needs.n_multiple, said.n_multiple);
  take(needs.k_multiple, said.k_multiple);
  take(needs.lda_multiple, said.lda_multiple);
  take(needs.ldb_multiple, said.ldb_multiple);
  take(needs.ldc_multiple, said.ldc_multiple);
  take(needs.m_least, said.m_least);
  take(needs.n_least, said.n_least);
  take(needs.k_least, said.k_least);
  take(needs.m_most, said.m_most);
  take(needs.n_most, said.n_most);
  take(needs.k_most, said.k_most);
  take(needs.a_alignment, said.a_alignment);
  take(needs.b_alignment, said.b_alignment);
  take(needs.c_alignment, said.c_alignment);
  needs.square = said.square != 0;
  needs.int_indices = said.int_indices != 0;
  needs.packed = said.packed != 0;
  needs.alpha_one = said.alpha_one != 0;
  needs.beta_zero = said.beta_zero != 0;
  needs.compute_capability = said.compute_capability;
  return needs;
}

Tile tile_of(const assay_variant& said) {
  Tile tile;
  take(tile.m, said.tile_m);
  take(tile.n, said.tile_n);
  take(tile.k, said.tile_k);
  return tile;
}

std::string name_of(const assay_variant& variant) {
  return variant.name == nullptr ? "without a name" : variant.name;
}

void refuse_unknown_words(const assay_variant& variant, const std::string& file) {
  struct Word {
    const char* name;
    int value, least, most;
  };
  for (const Word& word : {Word{"memory", variant.memory, ASSAY_HOST_MEMORY, ASSAY_GPU_MEMORY},
                           Word{"arithmetic", variant.arithmetic, ASSAY_FP32, ASSAY_TF32X3},
                           Word{"order", variant.order, ASSAY_ANY_ORDER, ASSAY_ONE_FMA_CHAIN},
                           Word{"layout", variant.layout, ASSAY_ROW_MAJOR, ASSAY_COLUMN_MAJOR}}) {
    if (word.value < word.least || word.value > word.most) {
      throw BadInput(fmt::format("{}: the variant {}: its {} is {}; assay_library.h knows {} to {}",
                                 file, name_of(variant), word.name, word.value, word.least,
                                 word.most));
    }
  }
  if (variant.launch == nullptr)
    throw BadInput(
        fmt::format("{}: the variant {}: it has no launch function", file, name_of(variant)));
}

static_assert(static_cast<int>(Arithmetic::tf32) == ASSAY_TF32 &&
              static_cast<int>(Arithmetic::tf32x3) == ASSAY_TF32X3);

void enter(const assay_variant& said) {
  const Calls& call = calls[variants_taken];
  variants[variants_taken++] = &said;
  const bool columns = is_by_columns(said), in_workspace = said.workspace != nullptr;
  const Needs needs = needs_of(said.needs);
  const Tile tile = tile_of(said);
  register_variant(
      {.name = said.name,
       .idea = said.idea,
       .launch = in_workspace ? Launch(call.launch_in) : Launch(call.launch),
       .needs = columns ? adapter::by_rows(needs) : needs,
       .arithmetic = static_cast<Arithmetic>(said.arithmetic),
       .order = said.order == ASSAY_ONE_FMA_CHAIN ? Order::one_fma_chain : Order::unspecified,
       .tile = columns ? adapter::by_rows(tile) : tile,
       .deterministic = said.bits_may_differ == 0,
       .workspace = in_workspace ? call.workspace : nullptr,
       .column_major = columns},
      said.memory == ASSAY_GPU_MEMORY ? Backend::cuda : Backend::host, 0);
}

// What the library exports under the name of the table, once it is known to be data of its size.
const assay_library& table_in(void* library, const std::string& file) {
  void* const address = dlsym(library, table_name);
  Dl_info info;
  void* entry = nullptr;
  const bool found = address != nullptr && dladdr1(address, &info, &entry, RTLD_DL_SYMENT) != 0;
  const auto* const symbol = static_cast<const ElfW(Sym)*>(entry);
  if (!found || symbol == nullptr || ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT ||
      symbol->st_size < sizeof(std::int32_t)) {
    throw BadInput(
        fmt::format("{}: what it exports as {} is no table of variants: see assay_library.h", file,
                    table_name));
  }
  const auto& table = *static_cast<const assay_library*>(address);
  if (table.version != ASSAY_LIBRARY_VERSION) {
    throw BadInput(fmt::format(
        "{} is of version {} of assay_library.h, and this assay takes version {}: compile it with "
        "the header of this one",
        file, table.version, ASSAY_LIBRARY_VERSION));
  }
  if (symbol->st_size < sizeof(assay_library) || table.count < 1 || table.variants == nullptr)
    throw BadInput(fmt::format("{}: its table has no variants", file));
  return table;
}

}  // namespace

bool has_table(void* library) { return dlsym(library, table_name) != nullptr; }

void register_table(void* library, const std::string& file) {
  const assay_library& table = table_in(library, file);
  const auto count = static_cast<std::size_t>(table.count);
  if (count > most_variants - variants_taken)
    throw BadInput(fmt::format("{}: its table says {} variants, and assay takes {} at a time", file,
                               table.count, most_variants));
  for (std::size_t i = 0; i < count; ++i) refuse_unknown_words(table.variants[i], file);
  for (std::size_t i = 0; i < count; ++i) enter(table.variants[i]);
}

}  // namespace assay
