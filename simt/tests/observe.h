// How tests run what launches a kernel.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "simt/simt.h"

namespace simt_test {

// Launches under `settings`, and answers the fault if there was one.
template <class Launch>
std::optional<simt::Fault> run(const Launch& launch, simt::Settings settings = {}) {
  return simt::observe(settings, [&] { launch(); }).fault;
}

// Whether it went well; if not, the fault is told.
template <class Launch>
testing::AssertionResult is_fine(const Launch& launch, simt::Settings settings = {}) {
  const auto fault = run(launch, settings);
  if (!fault) return testing::AssertionSuccess();
  return testing::AssertionFailure() << simt::to_string(fault->kind) << ": " << fault->text;
}

template <class Launch>
void expect_fault(simt::FaultKind kind, const std::string& words, const Launch& launch,
                  simt::Settings settings = {}) {
  const auto fault = run(launch, settings);
  ASSERT_TRUE(fault) << "no fault, expected: " << simt::to_string(kind);
  EXPECT_EQ(fault->kind, kind) << fault->text;
  EXPECT_NE(fault->text.find(words), std::string::npos) << fault->text;
}

}  // namespace simt_test
