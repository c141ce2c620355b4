#include "cli/tests/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

extern char** environ;

namespace assay::tests {
namespace {

// The two ends of what the program writes and the test reads.
struct Stream {
  int theirs = -1, mine = -1;
};

Stream make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  return {ends[1], ends[0]};
}

Stream make_terminal() {
  Stream stream;
  winsize size = {.ws_row = 40, .ws_col = 120, .ws_xpixel = 0, .ws_ypixel = 0};
  if (openpty(&stream.mine, &stream.theirs, nullptr, nullptr, &size) != 0)
    throw std::runtime_error("no terminal");
  fcntl(stream.mine, F_SETFD, FD_CLOEXEC);
  return stream;
}

std::vector<std::string> environment_with(const std::map<std::string, std::string>& given) {
  std::map<std::string, std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    all[text.substr(0, text.find('='))] = text.substr(text.find('=') + 1);
  }
  for (const char* name : {"ASSAY_REQUIRE_GPU", "NO_COLOR"}) all.erase(name);
  all["CUDA_VISIBLE_DEVICES"] = "";  // what is tested needs none, and its driver starts slowly
  all["ASSAY_CORPUS"] = "/nowhere/corpus.txt";  // the project's own is left alone
  for (const auto& [name, value] : given) all[name] = value;
  std::vector<std::string> entries;
  for (const auto& [name, value] : all) entries.push_back(name + "=" + value);
  return entries;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

void read_to_the_end(std::vector<std::pair<int, std::string*>> sources) {
  while (!sources.empty()) {
    std::vector<pollfd> waiting;
    for (const auto& [descriptor, text] : sources) waiting.push_back({descriptor, POLLIN, 0});
    poll(waiting.data(), waiting.size(), -1);
    for (std::size_t i = waiting.size(); i-- > 0;) {
      if (waiting[i].revents == 0) continue;
      char buffer[4096];
      const ssize_t size = read(sources[i].first, buffer, sizeof buffer);
      if (size > 0) {
        sources[i].second->append(buffer, static_cast<std::size_t>(size));
      } else {
        close(sources[i].first);
        sources.erase(sources.begin() + static_cast<std::ptrdiff_t>(i));
      }
    }
  }
}

}  // namespace

std::vector<std::string> Answer::lines() const {
  std::vector<std::string> lines;
  std::istringstream text(out);
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

std::string Answer::last_line() const {
  const auto all = lines();
  return all.empty() ? "" : all.back();
}

bool has_terminal() {
  try {
    const Stream stream = make_terminal();
    close(stream.mine);
    close(stream.theirs);
    return true;
  } catch (const std::runtime_error&) {
    return false;
  }
}

Answer run(const std::vector<std::string>& arguments, const Circumstances& in) {
  std::vector<std::string> words = {"assay"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  auto environment = environment_with(in.environment);
  const auto argv = pointers_to(words), envp = pointers_to(environment);

  Stream out = in.on_terminal ? make_terminal() : make_pipe();
  Stream err = in.on_terminal ? Stream{dup(out.theirs), -1} : make_pipe();
  const pid_t child = fork();
  if (child == 0) {
    dup2(out.theirs, STDOUT_FILENO);
    dup2(err.theirs, STDERR_FILENO);
    if (!in.stdout_file.empty()) dup2(open(in.stdout_file.c_str(), O_WRONLY), STDOUT_FILENO);
    if (in.stderr_file == "-") {
      close(STDERR_FILENO);
    } else if (!in.stderr_file.empty()) {
      dup2(open(in.stderr_file.c_str(), O_WRONLY), STDERR_FILENO);
    }
    if (in.largest_file != RLIM_INFINITY) {
      const rlimit limit = {in.largest_file, in.largest_file};
      setrlimit(RLIMIT_FSIZE, &limit);
      std::signal(SIGXFSZ, SIG_IGN);
    }
    execve(in.program, argv.data(), envp.data());
    _exit(126);
  }
  close(out.theirs);
  close(err.theirs);
  Answer answer;
  std::vector<std::pair<int, std::string*>> sources = {{out.mine, &answer.out}};
  if (err.mine >= 0) sources.push_back({err.mine, &answer.err});
  read_to_the_end(sources);
  int status = 0;
  waitpid(child, &status, 0);
  answer.code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return answer;
}

std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words(1);
  bool quoted = false;
  for (char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ' ' && !quoted) {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  return words;
}

Folder::Folder() {
  std::string name = (std::filesystem::temp_directory_path() / "cli_test-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder for the test");
  path_ = name;
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::vector<std::string> Folder::names() const {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(path_))
    names.push_back(file.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string text_of(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void write_text(const std::string& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
}

void expect_bad_input(const Answer& answer, const std::string& message) {
  EXPECT_EQ(answer.code, 2);
  EXPECT_THAT(answer.out, testing::IsEmpty());
  EXPECT_THAT(answer.err, testing::StartsWith("assay: "));
  EXPECT_THAT(answer.err, testing::HasSubstr(message));
  EXPECT_EQ(std::count(answer.err.begin(), answer.err.end(), '\n'), 1) << answer.err;
}

}  // namespace assay::tests
