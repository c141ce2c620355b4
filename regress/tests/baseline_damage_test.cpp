// Whatever is wrong with a stored baseline is refused in one line that names the file and the
// field.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/errors.h"
#include "base/sha256.h"
#include "regress/tests/any_baseline.h"

namespace {

using namespace assay;
using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

class DamagedBaseline : public BaselineFolder {
 protected:
  DamagedBaseline() { make_good(); }
  void make_good() {
    fs::remove_all(folder_ / good_.gpu);
    write_baseline(folder_, good_);
  }

  fs::path path(const std::string& file) const { return folder_ / good_.gpu / file; }

  // The cubin of one of the variants.
  std::string cubin_of(const std::string& variant) const {
    return "cubins/" + good_.accepted.at(variant).cells[0].cubin.substr(0, 16) + ".cubin";
  }

  // What is said of the folder as it now is, without the way there; then it is made good again.
  void expect_complaint(const std::string& expected) {
    std::string said = "nothing";
    try {
      read_baseline(folder_, good_.gpu);
    } catch (const BadInput& e) {
      said = e.what();
    }
    const std::string way = path("").string();
    if (said.starts_with(way)) said = said.substr(way.size());
    EXPECT_EQ(said.substr(0, expected.size()), expected);
    EXPECT_EQ(said.find('\n'), said.npos) << said;
    make_good();
  }

  void damage(const std::string& file, const std::string& pointer, const Json& value) {
    SCOPED_TRACE(file + pointer);
    Json json = Json::parse(bytes_of(path(file)));
    json[Json::json_pointer(pointer)] = value;
    write_bytes(path(file), json.dump());
  }

  const Baseline good_ = some_baseline();
};

struct Damage {
  const char* file;
  const char* pointer;
  Json value;
  const char* complaint;  // goes on behind the name of the file
};

TEST_F(DamagedBaseline, IsRefusedWithTheFieldAtFault) {
  const Damage all[] = {
      {"device.json", "/schema", 2, "schema: this version of assay reads 1, not 2: accept again"},
      {"device.json", "/schema", "1", "schema: expected a whole number"},
      {"device.json", "/gpu", "NVIDIA-H100", "gpu: 'NVIDIA-H100' does not lie in a folder of"},
      {"device.json", "/gpu", 5, "gpu: expected text"},
      {"device.json", "/architecture", "90", "architecture: expected a whole number"},
      {"device.json", "/device", Json::array(), "device: expected an object"},
      {"device.json", "/device/ecc", true, "device.ecc: expected text"},
      {"device.json", "/canaries/l2", -1, "canaries.l2: expected a finite number above 0"},
      {"device.json", "/canaries/l2", nullptr, "canaries.l2: expected a finite number above 0"},
      {"device.json", "/canary", 1, "unknown field 'canary'"},
      {"small.json", "/schema", 0, "schema: this version of assay reads 1"},
      {"small.json", "/variant", "table", "variant: 'table' does not lie in a file of its name"},
      {"small.json", "/provenance", 1, "provenance: expected an object with commit, date"},
      {"small.json", "/provenance/reason", 1, "provenance.reason: expected text"},
      {"small.json", "/provenance/reason", "", "provenance.reason: expected words, not ''"},
      {"small.json", "/provenance/reason", " \t\n",
       "provenance.reason: expected words, not blanks"},
      {"anchor/small.json", "/provenance/reason", "", "provenance.reason: expected words"},
      {"small.json", "/provenance/author", "I", "provenance: unknown field 'author'"},
      {"small.json", "/cells", Json::object(), "cells: expected a list"},
      {"small.json", "/cells/1", 5, "cells[1]: expected an object with problem, time_us"},
      {"small.json", "/cells/1/extra", 5, "cells[1]: unknown field 'extra'"},
      {"small.json", "/cells/1/problem", "m=1 n=1", "cells[1].problem: "},
      {"small.json", "/cells/1/problem", "m=256 n=x k=256", "cells[1].problem: "},
      {"small.json", "/cells/1/problem", "k=1 m=1 n=1",
       "cells[1].problem: 'k=1 m=1 n=1' should be written 'm=1 n=1 k=1'"},
      {"small.json", "/cells/1/problem", "m=128 n=128 k=128",
       "cells[1].problem: 'm=128 n=128 k=128' stands twice"},
      {"small.json", "/cells/0/time_us", -12.5, "cells[0].time_us: expected a finite number"},
      {"small.json", "/cells/0/time_us", nullptr, "cells[0].time_us: expected a finite number"},
      {"small.json", "/cells/0/time_us", "12.5", "cells[0].time_us: expected a finite number"},
      {"small.json", "/cells/0/tflops", -1, "cells[0].tflops: expected a finite number that is"},
      {"small.json", "/cells/0/process_spread", -1, "cells[0].process_spread: expected"},
      {"small.json", "/cells/0/detectable", "NaN", "cells[0].detectable: expected"},
      {"small.json", "/cells/0/clock_mhz", nullptr, "cells[0].clock_mhz: expected"},
      {"small.json", "/cells/0/throttled", -1, "cells[0].throttled: expected a whole number"},
      {"small.json", "/cells/0/to_baseline", 1.0, "cells[0].to_baseline: expected an object"},
      {"small.json", "/cells/0/to_baseline/low", 1.5,
       "cells[0].to_baseline: expected low <= ratio"},
      {"small.json", "/cells/0/to_baseline/ratio", 0, "cells[0].to_baseline.ratio: expected"},
      {"small.json", "/cells/0/to_baseline/high", nullptr, "cells[0].to_baseline.high: expected"},
      {"small.json", "/cells/0/to_cublas/processes", 0, "cells[0].to_cublas.processes: expected"},
      {"small.json", "/cells/0/cubin", 5, "cells[0].cubin: expected text"},
      {"small.json", "/cells/0/cubin", "", "cells[0].cubin: a recipe with kernels needs one"},
      {"small.json", "/cells/0/cubin", "1234", "cells[0].cubin: there is no "},
      {"small.json", "/cells/0/recipe/nodes", Json::array(), "cells[0].cubin: its recipe runs no"},
      {"small.json", "/cells/0/recipe/nodes/1/kernel", "k",
       "cells[0].recipe.nodes[1].kernel: its cubin has no 'k'"},
      {"small.json", "/cells/0/recipe/nodes/1/code", "ab",
       "cells[0].recipe.nodes[1].code: 'ab', but the code in its cubin is "},
      {"small.json", "/cells/0/recipe/nodes/1/grid", "0x1x1", "cells[0].recipe.nodes[1].grid: "},
      {"small.json", "/cells/0/recipe/nodes/1/parameters", "0+9",
       "cells[0].recipe.nodes[1].parameters: '0+9' lies outside of the 8 bytes"},
      {"small.json", "/cells/0/recipe/nodes/1/arguments/0", "C-99999999999",
       "cells[0].recipe.nodes[1].arguments: 'C-99999999999' lies outside of the 65536 bytes of C"},
      {"small.json", "/cells/0/recipe/nodes/1/arguments/0", "C-4",
       "cells[0].recipe.nodes[1].arguments: 'C-4' lies outside of the 65536 bytes of C"},
      {"small.json", "/cells/0/recipe/nodes/1/arguments/0", "A+65536",
       "cells[0].recipe.nodes[1].arguments: 'A+65536' lies outside of the 65536 bytes of A"},
      {"small.json", "/cells/0/recipe/nodes/0/memset", "B+65536",
       "cells[0].recipe.nodes[0].memset: 'B+65536' lies outside of the 65536 bytes of B"},
      {"small.json", "/cells/0/recipe/nodes/0/width", 65537,
       "cells[0].recipe.nodes[0].memset: it sets more than the 65536 bytes of C"},
      {"small.json", "/cells/0/recipe/nodes/0/width", INT64_MAX,
       "cells[0].recipe.nodes[0].memset: it sets more than the 65536 bytes of C"},
      {"anchor/small.json", "/cells/0/time_us", -1, "cells[0].time_us: expected"},
      {"anchor/small.json", "/variant", "other", "variant: 'other' does not lie in a file of"},
  };
  for (const Damage& d : all) {
    SCOPED_TRACE(d.pointer);
    damage(d.file, d.pointer, d.value);
    expect_complaint(std::string(d.file) + ": " + d.complaint);
  }
}

TEST_F(DamagedBaseline, LacksAField) {
  for (const char* file : {"device.json", "small.json", "anchor/small.json"}) {
    const Json good = Json::parse(bytes_of(path(file)));
    for (const std::string place : {"", "/provenance", "/cells/0", "/cells/0/to_baseline"}) {
      const Json::json_pointer pointer(place);
      if (!good.contains(pointer)) continue;
      for (const auto& [key, value] : good[pointer].items()) {
        SCOPED_TRACE(file + place + "/" + key);
        Json json = good;
        json[pointer].erase(key);
        write_bytes(path(file), json.dump());
        EXPECT_THROW(read_baseline(folder_, good_.gpu), BadInput);
      }
    }
    make_good();
  }
}

TEST_F(DamagedBaseline, IsNoJson) {
  const std::string text = bytes_of(path("small.json"));
  write_bytes(path("small.json"), text.substr(0, text.size() / 2));
  expect_complaint("small.json: no JSON: parse error at line ");
  write_bytes(path("small.json"), "");
  expect_complaint("small.json: no JSON: parse error at line 1, column 1");
  write_bytes(path("small.json"), text + "<<<<<<< head\n");
  expect_complaint("small.json: no JSON: parse error at line ");
  write_bytes(path("small.json"), R"({"schema": 1, "variant": "small", "schema": 1})");
  expect_complaint("small.json: the key 'schema' stands twice");
  write_bytes(path("small.json"), R"({"schema": 1e999})");
  expect_complaint("small.json: no JSON: number overflow");
  write_bytes(path("small.json"), "[]");
  expect_complaint("small.json: the field 'schema' is missing");
}

TEST_F(DamagedBaseline, LacksAFile) {
  fs::remove(path("device.json"));
  expect_complaint("device.json: is missing");
  fs::remove(path(cubin_of("small")));
  expect_complaint("small.json: cells[0].cubin: there is no ");
}

TEST_F(DamagedBaseline, HasAFileThatIsNoPartOfIt) {
  const std::string complaint = ": is no part of a baseline: remove it";
  for (const std::string file :
       {"notes.txt", "small.json.orig", "anchor/.DS_Store", "cubins/small.json", "older"}) {
    SCOPED_TRACE(file);
    write_bytes(path(file), "x");
    expect_complaint(file + complaint);
  }
  fs::create_directory(path("old.json"));
  expect_complaint("old.json" + complaint);
  fs::create_symlink(path("small.json"), path("also.json"));
  expect_complaint("also.json" + complaint);
  fs::remove_all(path("anchor"));
  write_bytes(path("anchor"), "x");
  expect_complaint("anchor: is no folder");
}

class DamagedCubin : public DamagedBaseline {};

TEST_F(DamagedCubin, IsCutOff) {
  const std::string cubin = cubin_of("small"), bytes = bytes_of(path(cubin));
  for (std::size_t size : {std::size_t{0}, bytes.size() / 2, bytes.size() - 1}) {
    write_bytes(path(cubin), bytes.substr(0, size));
    expect_complaint(cubin + ": its content belongs to ");
  }
}

TEST_F(DamagedCubin, HasOneBitChanged) {
  const std::string cubin = cubin_of("table");
  std::string bytes = bytes_of(path(cubin));
  bytes[bytes.size() / 2] ^= 1;
  write_bytes(path(cubin), bytes);
  expect_complaint(cubin + ": its content belongs to ");
}

TEST_F(DamagedCubin, IsExchangedForAnother) {
  fs::rename(path(cubin_of("small")), path("cubins/x"));
  fs::rename(path(cubin_of("table")), path(cubin_of("small")));
  fs::rename(path("cubins/x"), path(cubin_of("table")));
  expect_complaint(std::min(cubin_of("small"), cubin_of("table")) + ": its content belongs to ");
}

TEST_F(DamagedCubin, IsNoneAlthoughItsHashIsRight) {
  const std::string bytes = bytes_of(path(cubin_of("table"))).substr(0, 1000);
  const std::string name = "cubins/" + sha256(bytes).substr(0, 16) + ".cubin";
  write_bytes(path(name), bytes);
  expect_complaint(name + ": not a whole cubin: ");
}

// Two branches that each replaced what asked for it, merged.
TEST_F(DamagedCubin, IsNoneForBeingAskedForByNobody) {
  const std::string bytes = bytes_of(fs::path(ASSAY_REGRESS_DATA) / "table_90_literal.cubin");
  const std::string name = "cubins/" + sha256(bytes).substr(0, 16) + ".cubin";
  write_bytes(path(name), bytes);
  expect_complaint("nothing");
}

TEST_F(DamagedCubin, IsForAnotherArchitecture) {
  damage("device.json", "/architecture", 80);
  expect_complaint("cubins/");
  std::string younger = bytes_of(fs::path(ASSAY_REGRESS_DATA) / "small_90.cubin");
  younger[49] = 99;  // of the same major architecture
  for (const std::string& bytes :
       {bytes_of(fs::path(ASSAY_REGRESS_DATA) / "small_80.cubin"),
        bytes_of(fs::path(ASSAY_REGRESS_DATA) / "small_100.cubin"), younger}) {
    const std::string name = "cubins/" + sha256(bytes).substr(0, 16) + ".cubin";
    write_bytes(path(name), bytes);
    expect_complaint(name + ": it is for sm_" + std::to_string(read_cubin(bytes).architecture));
  }
}

// Where the record names all of a hash, a file of the same beginning is not enough.
TEST_F(DamagedCubin, IsNamedByAnotherHash) {
  std::string hash = good_.accepted.at("small").cells[0].cubin;
  hash.back() = hash.back() == '0' ? '1' : '0';
  damage("small.json", "/cells/0/cubin", hash);
  expect_complaint("small.json: cells[0].cubin: there is no ");
}

// A kernel that is not the first of its cubin, under the hash of the first one's code.
TEST_F(DamagedCubin, HoldsTheOtherKernelUnderThatName) {
  const std::string hash = good_.accepted.at("small").cells[0].cubin;
  const Cubin cubin = read_cubin(good_.cubins.at(hash));
  damage("small.json", "/cells/0/recipe/nodes/1/kernel", cubin.kernels[1].symbol);
  expect_complaint("small.json: cells[0].recipe.nodes[1].code: ");
}

}  // namespace
