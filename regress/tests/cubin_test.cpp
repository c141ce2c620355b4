// What is read from the cubins in data/: the facts of their kernels, what their hashes depend on,
// and that nothing damaged is believed.
#include "regress/code/cubin.h"
#include "base/sha256.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <random>

#include "base/elf.h"
#include "base/errors.h"
#include "regress/code/variables.h"

namespace {

using namespace assay;
namespace fs = std::filesystem;

std::string bytes_of(const std::string& name) {
  std::ifstream file(fs::path(ASSAY_REGRESS_DATA) / name, std::ios::binary);
  EXPECT_TRUE(file) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

// The kernel whose symbol contains a name.
KernelCode kernel(const std::string& bytes, const std::string& name) {
  const Cubin cubin = read_cubin(bytes);
  for (const KernelCode& code : cubin.kernels) {
    if (code.symbol.find(name) != std::string::npos) return code;
  }
  ADD_FAILURE() << "no kernel " << name;
  return {};
}
std::string code_in(const std::string& file, const std::string& name) {
  return kernel(bytes_of(file), name).code;
}

// The message with which bytes are refused; empty if they are not.
std::string refusal(const std::string& bytes) {
  try {
    read_cubin(bytes);
    return "";
  } catch (const BadInput& e) {
    return e.what();
  }
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  ASSERT_EQ(from.size(), to.size());
  for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size()) {
    text.replace(at, to.size(), to);
  }
}

using Counts = std::map<std::string, int>;

TEST(Cubin, SaysForWhichArchitectureItIs) {
  EXPECT_EQ(read_cubin(bytes_of("small_80.cubin")).architecture, 80);
  EXPECT_EQ(read_cubin(bytes_of("small_90.cubin")).architecture, 90);
  EXPECT_EQ(read_cubin(bytes_of("small_90_cuda12.cubin")).architecture, 90);
  EXPECT_EQ(read_cubin(bytes_of("small_100.cubin")).architecture, 100);
}

TEST(Cubin, HoldsAKernelWithSharedMemoryAndABarrier) {
  for (const char* file : {"small_80.cubin", "small_90.cubin", "small_90_cuda12.cubin"}) {
    SCOPED_TRACE(file);
    const KernelCode staged = kernel(bytes_of(file), "staged");
    EXPECT_EQ(staged.registers, std::string(file) == "small_80.cubin" ? 28 : 32);
    EXPECT_EQ(staged.shared_bytes, 128 * 16 + 64 * 8);
    EXPECT_EQ(staged.stack_bytes, 0);
    EXPECT_EQ(staged.barriers, 1);
    EXPECT_EQ(staged.instructions, (Counts{{"BAR", 1},
                                           {"FFMA", 8},
                                           {"LDG.128", 1},
                                           {"LDG.64", 1},
                                           {"LDS", 8},
                                           {"LDS.128", 2},
                                           {"STG", 1},
                                           {"STS.128", 1},
                                           {"STS.64", 1}}));
  }
}

TEST(Cubin, HoldsAKernelWithAStack) {
  for (const char* file : {"small_80.cubin", "small_90.cubin", "small_90_cuda12.cubin"}) {
    SCOPED_TRACE(file);
    const KernelCode spilled = kernel(bytes_of(file), "spilled");
    EXPECT_EQ(spilled.registers, 12);
    EXPECT_EQ(spilled.shared_bytes, 0);
    EXPECT_EQ(spilled.stack_bytes, 24 * 4);
    EXPECT_EQ(spilled.barriers, 0);
    EXPECT_EQ(
        spilled.instructions,
        (Counts{{"FADD", 1}, {"LDG", 2}, {"LDL", 2}, {"STG", 1}, {"STL", 1}, {"STL.128", 6}}));
  }
}

TEST(Cubin, OfAnEncodingThatIsNotKnownHasEverythingButCounts) {
  const KernelCode staged = kernel(bytes_of("small_100.cubin"), "staged");
  EXPECT_EQ(staged.registers, 30);
  EXPECT_EQ(staged.shared_bytes, 128 * 16 + 64 * 8);
  EXPECT_EQ(staged.barriers, 1);
  EXPECT_EQ(staged.instructions, Counts{});
  EXPECT_EQ(kernel(bytes_of("small_100.cubin"), "spilled").stack_bytes, 24 * 4);
}

TEST(CodeHash, IsTheSameInAnotherFolderFileAndCompanyAndWithLineNumbers) {
  for (const char* name : {"staged", "spilled"}) {
    const KernelCode here = kernel(bytes_of("small_90.cubin"), name);
    const KernelCode moved = kernel(bytes_of("small_90_moved.cubin"), name);
    EXPECT_NE(here.symbol, moved.symbol);
    EXPECT_EQ(here.code, moved.code) << name;
  }
  EXPECT_EQ(read_cubin(bytes_of("small_90_moved.cubin")).kernels.size(), 3);
}

TEST(CodeHash, DoesNotDependOnNames) {
  std::string renamed = bytes_of("small_90.cubin");
  replace_all(renamed, "staged", "stages");
  EXPECT_EQ(kernel(renamed, "stages").code, code_in("small_90.cubin", "staged"));
}

TEST(CodeHash, ChangesWithTheUnrollingOfThisKernelOnly) {
  EXPECT_NE(code_in("small_90.cubin", "staged"), code_in("small_90_unrolled.cubin", "staged"));
  EXPECT_EQ(code_in("small_90.cubin", "spilled"), code_in("small_90_unrolled.cubin", "spilled"));
  EXPECT_EQ(kernel(bytes_of("small_90_unrolled.cubin"), "staged").instructions["FFMA"], 16);
}

TEST(CodeHash, ChangesWithALiteralAConstantAndAVariable) {
  const std::string before = code_in("table_90.cubin", "look_up");
  EXPECT_NE(before, code_in("table_90_literal.cubin", "look_up"));
  EXPECT_NE(before, code_in("table_90_constant.cubin", "look_up"));
  EXPECT_NE(before, code_in("table_90_variable.cubin", "look_up"));
}

TEST(CodeHash, ChangesWithTheArchitectureAndTheCompiler) {
  EXPECT_NE(code_in("small_80.cubin", "staged"), code_in("small_90.cubin", "staged"));
  EXPECT_NE(code_in("small_90.cubin", "staged"), code_in("small_90_cuda12.cubin", "staged"));
}

// Where a section lies, by how its name begins and ends.
std::pair<std::size_t, std::size_t> place_of(const std::string& bytes, const std::string& begin,
                                             const std::string& part) {
  for (const Section& s : read_elf(bytes).sections) {
    if (!s.name.starts_with(begin) || s.name.find(part) == s.name.npos) continue;
    return {static_cast<std::size_t>(s.bytes.data() - bytes.data()), s.bytes.size()};
  }
  ADD_FAILURE() << "no section " << begin << part;
  return {0, 0};
}

TEST(CodeHash, ChangesWithEveryByteOfTheCodeAndTheConstantsOfThatKernelOnly) {
  struct {
    const char *file, *section, *kernel, *other;
  } all[] = {{"small_90.cubin", ".text.", "staged", "spilled"},
             {"table_90.cubin", ".nv.constant2.", "choose", "look_up"}};  // where it jumps to
  for (const auto& [file, section, name, other] : all) {
    const std::string bytes = bytes_of(file);
    const std::string before = kernel(bytes, name).code, apart = kernel(bytes, other).code;
    const auto [begin, size] = place_of(bytes, section, name);
    for (std::size_t at = begin; at < begin + size; ++at) {
      std::string changed = bytes;
      changed[at] ^= 1;
      ASSERT_NE(kernel(changed, name).code, before) << at;
      ASSERT_EQ(kernel(changed, other).code, apart) << at;
    }
  }
}

// The bytes of an attribute as they lie in a cubin: of 4 bytes before the value, two for its size.
TEST(CodeHash, ChangesWithRegistersAndWithWhatALaunchMayAsk) {
  const std::string bytes = bytes_of("small_90.cubin");
  using namespace std::string_literals;
  const std::pair<std::string, std::size_t> values[] = {{"\4\x2f\x8\0"s, 8}, {"\4\5\xc\0"s, 4}};
  for (const auto& [attribute, offset] : values) {
    std::string changed = bytes;
    std::size_t found = 0;
    for (std::size_t at = 0; (at = changed.find(attribute, at)) != changed.npos; at += 4) {
      changed[at + offset] ^= 1;
      ++found;
    }
    EXPECT_GT(found, 0u);
    EXPECT_NE(kernel(changed, "staged").code, kernel(bytes, "staged").code) << found;
  }
}

// Where a relocation points to is part of the code, which holds nothing but zeros there.
TEST(CodeHash, ChangesWithARelocation) {
  const std::string bytes = bytes_of("table_90.cubin");
  for (const char* section : {".rela.nv.constant4", ".rela.nv.global.init"}) {
    std::string changed = bytes;
    changed[place_of(bytes, section, "").first + 16] ^= 1;  // the addend
    EXPECT_NE(kernel(changed, "look_up").code, kernel(bytes, "look_up").code) << section;
  }
}

TEST(Cubin, CutOffAnywhereIsRefusedInOneLine) {
  for (const char* file : {"small_80.cubin", "small_90.cubin", "small_90_cuda12.cubin"}) {
    const std::string bytes = bytes_of(file);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      const std::string message = refusal(std::string(bytes.data(), size));
      ASSERT_TRUE(message.starts_with("not a whole cubin: ")) << file << " " << size;
      ASSERT_EQ(message.find('\n'), message.npos);
    }
    EXPECT_EQ(refusal(bytes + "more"), "");
  }
}

// Where the header of a section lies, by how its name begins.
std::size_t header_of(const std::string& bytes, const std::string& name) {
  const std::vector<Section> sections = read_elf(bytes).sections;
  const auto found = std::find_if(sections.begin(), sections.end(),
                                  [&](const Section& s) { return s.name.starts_with(name); });
  EXPECT_NE(found, sections.end()) << name;
  return number_at<std::uint64_t>(bytes, 40) +
         64 * static_cast<std::size_t>(found - sections.begin());
}

TEST(Cubin, SaysWhatIsDamaged) {
  const std::string bytes = bytes_of("table_90.cubin");
  constexpr std::size_t size = 32;  // in the header of a section
  const std::size_t text = header_of(bytes, ".text.look_up");
  const std::size_t attributes = place_of(bytes, ".nv.info", "look_up").first;
  const std::size_t relocations = place_of(bytes, ".rela.nv.constant4", "").first;
  const std::size_t registers = bytes.find(std::string("\4\x2f\x8\0", 4)) + 8;
  const struct {
    std::size_t at;
    std::uint32_t value;
    const char* complaint;
  } all[] = {
      {48, 0, "it does not say for which architecture it is"},
      {32, 0xffffff00, "the table of segments lies outside of the file, which has "},
      {40, 0xffffff00, "the table of sections lies outside of the file, which has "},
      {58, 0x00100041, "the table of sections has entries of 65 bytes instead of 64"},
      {60, 0xffff0005, "the section that holds the names is missing"},
      {text, 0xffffff00, "the name of section "},
      {text + size, 0xffffff00, "section "},
      {header_of(bytes, ".symtab") + size, 30, "the table of symbols is damaged"},
      {header_of(bytes, ".symtab") + 40, 999, "section '.symtab' asks for section 999 of "},
      {header_of(bytes, ".rela.nv.constant4") + size, 30,
       "the table of relocations '.rela.nv.constant4' is damaged"},
      {relocations, 5000, "a relocation in '.rela.nv.constant4' is damaged"},
      {relocations + 12, 5000, "a relocation in '.rela.nv.constant4' is damaged"},
      {attributes + 2, 0xffff, "the attributes of its kernels are damaged"},
      {registers, 0xffffff00,
       "it says that its number of registers is 4294967040, which cannot be"},
  };
  for (const auto& [at, value, complaint] : all) {
    std::string damaged = bytes;
    std::memcpy(&damaged[at], &value, sizeof value);
    const std::string message = refusal(damaged);
    EXPECT_TRUE(message.starts_with(std::string("not a whole cubin: ") + complaint))
        << complaint << "\n"
        << message;
  }
}

// Whatever is damaged is refused or read as something else; the sanitizers watch how.
TEST(Cubin, DamagedAnywhereIsReadSafely) {
  std::mt19937 random(1);
  std::size_t refused = 0, believed = 0;
  for (const char* file :
       {"small_80.cubin", "small_90.cubin", "small_90_cuda12.cubin", "table_90.cubin"}) {
    const std::string bytes = bytes_of(file);
    for (int round = 0; round < 2000; ++round) {
      std::string damaged = bytes;
      const std::size_t tables = 2500;  // at the end of the file
      const std::size_t from[] = {0, 0, bytes.size() - tables}, to[] = {64, bytes.size(), tables};
      const int region = static_cast<int>(random() % 3);
      for (int flip = 0; flip < 4; ++flip) {
        damaged[from[region] + random() % to[region]] = static_cast<char>(random());
      }
      const std::string message = refusal(damaged);
      message.empty() ? ++believed : ++refused;
      ASSERT_EQ(message.find('\n'), message.npos);
    }
  }
  EXPECT_GT(refused, 1000u);
  EXPECT_GT(believed, 1000u);
}

TEST(Cubin, IsNotAnyOtherFile) {
  EXPECT_NE(refusal("").find("does not begin as an ELF64 file"), std::string::npos);
  EXPECT_NE(refusal("\177ELF\2\1\1").find("damaged or cut off"), std::string::npos);
  EXPECT_NE(refusal(std::string(200, 'x')).find("does not begin as an ELF64 file"),
            std::string::npos);
  std::ifstream self("/proc/self/exe", std::ios::binary);
  const std::string program{std::istreambuf_iterator<char>(self), {}};
  EXPECT_NE(refusal(program).find("not for NVIDIA GPUs"), std::string::npos) << refusal(program);
}

TEST(Instructions, AreCountedWhereTheirEncodingIsKnown) {
  const std::string code(32, '\0');
  EXPECT_EQ(count_instructions(code, 90), Counts{});
  EXPECT_EQ(count_instructions(code.substr(1), 100), Counts{});
  EXPECT_EQ(count_instructions(code.substr(1), 75), Counts{});
  EXPECT_THROW(count_instructions(code.substr(1), 80), BadInput);
}

class Program : public testing::Test {
 protected:
  void write(const std::string& bytes) { std::ofstream(path_, std::ios::binary) << bytes; }
  ~Program() override { fs::remove(path_); }
  const fs::path path_ = fs::temp_directory_path() / fmt::format("assay_program_{}", getpid());
};

TEST_F(Program, HoldsTheCubinsThatWereLinkedIntoIt) {
  const std::string first = bytes_of("small_80.cubin"), second = bytes_of("small_90.cubin");
  write("\177ELF, in a text" + first + "\177ELF\2\1\1" + second + first.substr(0, 500) + "the end");
  EXPECT_EQ(cubins_in(path_), (std::vector{first, second}));
}

TEST(Variables, AreThoseOfTheFileWithWhatTheyAreLoadedWith) {
  const auto values_of = [](const char* file) {
    std::map<std::string, std::string> values;
    const std::string bytes = bytes_of(file);
    for (const Variable& variable : variables_in(bytes)) values[variable.name] = variable.initial;
    return values;
  };
  const auto values = values_of("table_90.cubin");
  ASSERT_EQ(values.size(), 3u);
  const auto number = [&](const char* name, std::size_t at) {
    return number_at<float>(values.at(name), 4 * at);
  };
  EXPECT_EQ(values.at("table").size(), 16u);
  EXPECT_EQ(number("table", 0), 1);
  EXPECT_EQ(number("table", 3), 4);
  EXPECT_EQ(number("shift", 0), 1);
  EXPECT_NE(values_of("table_90_variable.cubin").at("shift"), values.at("shift"));
  EXPECT_TRUE(values_of("small_90.cubin").empty());
  EXPECT_EQ(
      variable_name("_ZN5assay46_GLOBAL__N__9405e34d_8_naive_cu_17147cea_20388L12scale_of_allE"),
      "scale_of_all");
  EXPECT_EQ(variable_name("table"), "table");
  EXPECT_THROW(variables_in(bytes_of("table_90.cubin").substr(0, 3000)), BadInput);
}

TEST_F(Program, WithoutReadableCubinsHasNone) {
  write("");
  EXPECT_TRUE(cubins_in(path_).empty());
  write(bytes_of("small_80.cubin").substr(1));
  EXPECT_TRUE(cubins_in(path_).empty());
}

TEST_F(Program, ThatCannotBeReadIsBadInput) {
  EXPECT_THROW(cubins_in(path_ / "nothing"), BadInput);
  EXPECT_THROW(cubins_in(fs::temp_directory_path()), BadInput);
}

TEST(Sha256, IsWhatTheStandardSays) {
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
