#include "base/whole_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/errors.h"

namespace assay {
namespace {

[[noreturn]] void fail(const std::string& name, int error) {
  throw BadInput(fmt::format("{}: cannot be written: {}", name, std::strerror(error)));
}

mode_t usual_mode() {
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

// An open file. Its destructor closes it, and removes it if it has a path that is not yet final.
class Descriptor {
 public:
  explicit Descriptor(int number, std::string temporary = "")
      : number_(number), temporary_(std::move(temporary)) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int number() const { return number_; }
  const std::string& temporary() const { return temporary_; }
  void keep() { temporary_.clear(); }

  // All of it, onto the disk where there is one; returns 0 or what went wrong.
  int write_and_close(std::string_view text) {
    while (!text.empty()) {
      const ssize_t written = ::write(number_, text.data(), text.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return errno;
      text.remove_prefix(static_cast<std::size_t>(written));
    }
    if (::fsync(number_) != 0 && errno != EINVAL && errno != EROFS) return errno;
    return ::close(std::exchange(number_, -1)) == 0 ? 0 : errno;
  }

 private:
  int number_;
  std::string temporary_;
};

// A new file beside `target`, to take its place later.
Descriptor temporary_beside(const std::filesystem::path& target, const std::string& name) {
  std::string path = (target.parent_path() / ".assay-XXXXXX").string();
  const int number = ::mkostemp(path.data(), O_CLOEXEC);
  if (number < 0) fail(name, errno);
  return Descriptor(number, path);
}

// Renames a complete copy over `target`; messages call it `name`.
void replace(const std::filesystem::path& target, const std::string& name, std::string_view text) {
  Descriptor file = temporary_beside(target, name);
  struct stat old = {};
  const bool replaces = ::stat(target.c_str(), &old) == 0;
  if (::fchmod(file.number(), replaces ? old.st_mode & 07777 : usual_mode()) != 0)
    fail(name, errno);
  if (const int error = file.write_and_close(text); error != 0) fail(name, error);
  if (::rename(file.temporary().c_str(), target.c_str()) != 0) fail(name, errno);
  file.keep();
}

}  // namespace

void write_whole(const std::filesystem::path& path, std::string_view text) {
  replace(std::filesystem::absolute(path), path.string(), text);
}

OutputFile::OutputFile(std::string name) : name_(std::move(name)) {
  if (name_.empty() || name_ == "-") return;
  std::error_code error;
  target_ = std::filesystem::absolute(name_);
  if (auto real = std::filesystem::canonical(target_, error); !error) target_ = real;
  if (std::filesystem::is_directory(target_, error) || !target_.has_filename()) fail(name_, EISDIR);
  if (std::filesystem::exists(target_, error) && ::access(target_.c_str(), W_OK) != 0)
    fail(name_, errno);
  if (is_replaced()) temporary_beside(target_, name_);
}

bool OutputFile::is_replaced() const {
  std::error_code error;
  const auto status = std::filesystem::status(target_, error);
  return !std::filesystem::exists(status) || std::filesystem::is_regular_file(status);
}

void OutputFile::write(const std::string& text) const {
  if (name_.empty()) return;
  if (name_ == "-") {
    std::fwrite(text.data(), 1, text.size(), stdout);  // whoever closes stdout looks at its state
    return;
  }
  if (!is_replaced()) {
    Descriptor device(::open(target_.c_str(), O_WRONLY | O_CLOEXEC));
    if (device.number() < 0) fail(name_, errno);
    if (const int error = device.write_and_close(text); error != 0) fail(name_, error);
    return;
  }
  replace(target_, name_, text);
}

}  // namespace assay
