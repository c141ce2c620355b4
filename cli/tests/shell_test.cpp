// How other programs end.
#include "cli/shell.h"

#include <gtest/gtest.h>

namespace assay::tests {
namespace {

TEST(ProgramOutput, TellsHowItEnded) {
  EXPECT_EQ(output_of({"sh", "-c", "echo said; exit 3"}).code, 3);
  EXPECT_EQ(output_of({"sh", "-c", "echo said; exit 3"}).text, "said");
  EXPECT_EQ(output_of({"/no/such/program"}).code, 127);
}

TEST(ProgramOutput, OfOneThatASignalEndedIsNoSuccess) {
  for (int signal : {9, 11, 15}) {
    const std::string kill = "kill -" + std::to_string(signal) + " ";
    EXPECT_EQ(output_of({"sh", "-c", kill + "$$"}).code, 128 + signal);
    EXPECT_EQ(output_of({"sh", "-c", kill + "$PPID $$"}).code, 128 + signal)
        << "and the shell around it";
  }
}

}  // namespace
}  // namespace assay::tests
