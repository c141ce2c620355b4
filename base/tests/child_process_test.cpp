// How child processes talk and end.
#include "base/child_process.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <thread>

namespace assay::tests {
namespace {

using std::chrono::milliseconds;

ProgramOutput shell(const std::string& command) { return output_of("sh", {"-c", command}); }

TEST(ProgramOutput, SaysHowItEnded) {
  EXPECT_EQ(shell("echo said; exit 3").code, 3);
  EXPECT_EQ(shell("echo said; exit 3").text, "said");
  EXPECT_EQ(output_of("/no/such/program", {}).code, 127);
}

TEST(ProgramOutput, IsNoSuccessIfASignalEndedIt) {
  for (int signal : {9, 11, 15})
    EXPECT_EQ(shell("kill -" + std::to_string(signal) + " $$").code, 128 + signal);
}

TEST(ProgramOutput, TakesArgumentsAsTheyAre) {
  EXPECT_EQ(output_of("printf", {"%s|", "a 'b'", "$HOME", "*"}).text, "a 'b'|$HOME|*|");
}

TEST(ChildProcess, ConversesThroughItsStdinAndStdout) {
  const std::string much(1 << 20, 'x');
  ChildProcess cat("cat", {}, Channel::stdio);
  EXPECT_EQ(cat.converse(much.substr(0, 1 << 16), milliseconds(10'000)).size(), 1u << 16);
  EXPECT_TRUE(cat.end().is_success());
  ChildProcess count("wc", {"-c"}, Channel::stdio);
  EXPECT_EQ(count.converse(much, milliseconds(10'000)), "1048576\n");
}

TEST(ChildProcess, IsGivenEnvironmentOnTopOfOurs) {
  setenv("ASSAY_OURS", "ours", 1);
  setenv("ASSAY_CHANGED", "ours", 1);
  ChildProcess child("sh", {"-c", "echo $ASSAY_OURS $ASSAY_CHANGED $ASSAY_NEW"}, Channel::stdio,
                     {{"ASSAY_CHANGED", "changed"}, {"ASSAY_NEW", "new"}});
  EXPECT_EQ(child.converse("", milliseconds(10'000)), "ours changed new\n");
}

TEST(ChildProcess, ExchangesWholeMessages) {
  // `head -c` reads one short message, with what goes before it, and writes it back as one.
  ChildProcess child("sh", {"-c", "head -c 6 <&3 >&3; exit 4"}, Channel::messages);
  EXPECT_EQ(child.ask("hello", milliseconds(10'000)), "hello");
  EXPECT_EQ(child.ask("again", milliseconds(10'000)), std::nullopt) << "it is gone";
  EXPECT_FALSE(child.timed_out());
  EXPECT_EQ(child.end().text(), "ended with exit code 4");
}

TEST(ChildProcess, ExchangesMessagesOfAnyLength) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
  for (const std::size_t size : {0, 1, 65535, 65536, 65537, 131072, 3'000'000}) {
    std::string message(size, 'x');
    if (size > 0) message.back() = 'y';
    std::jthread sender([&] { EXPECT_TRUE(send_message(ends[0], message)); });
    const auto received = receive_message(ends[1]);
    EXPECT_TRUE(received == message) << size << " bytes were sent";
  }
  close(ends[0]);
  EXPECT_EQ(receive_message(ends[1]), std::nullopt) << "the other side is gone";
  close(ends[1]);
}

TEST(ChildProcess, WithMessagesPrintsToStderr) {
  ChildProcess child("sh", {"-c", "test /proc/self/fd/1 -ef /proc/self/fd/2 || exit 1"},
                     Channel::messages);
  EXPECT_TRUE(child.end().is_success());
}

TEST(ChildProcess, IsKilledOnceItStaysSilentTooLong) {
  ChildProcess child("sleep", {"600"}, Channel::messages);
  EXPECT_EQ(child.ask("hello", milliseconds(50)), std::nullopt);
  EXPECT_TRUE(child.timed_out());
  EXPECT_EQ(child.end().signal, 9);
  ChildProcess other("sleep", {"600"}, Channel::stdio);
  EXPECT_THROW(other.converse("", milliseconds(50)), std::runtime_error);
}

TEST(ChildProcess, ThatCannotStartSaysWhy) {
  try {
    ChildProcess child("/no/such/program", {}, Channel::stdio);
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "/no/such/program cannot be started: No such file or directory");
  }
}

}  // namespace
}  // namespace assay::tests
