#include "cli/out/table.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "base/printable.h"

namespace assay {
namespace {

bool is_terminal(std::FILE* file) { return isatty(fileno(file)) == 1; }

const char* escape_of(Colour colour) {
  switch (colour) {
    case Colour::plain: break;
    case Colour::red: return "\033[1;31m";
    case Colour::green: return "\033[32m";
    case Colour::yellow: return "\033[33m";
    case Colour::faint: return "\033[2m";
  }
  return "";
}

}  // namespace

Screen::Screen(std::FILE* file) : file_(file) {
  const char* no_color = std::getenv("NO_COLOR");
  colour_ = is_terminal(file) && (no_color == nullptr || *no_color == '\0');
}

void Screen::print(std::string_view text) const {
  std::fwrite(text.data(), 1, text.size(), file_);
  std::fflush(file_);
}

std::string Screen::paint(std::string_view text, Colour colour) const {
  if (!colour_ || colour == Colour::plain) return std::string(text);
  return fmt::format("{}{}\033[0m", escape_of(colour), text);
}

Screen screen_beside(const std::vector<std::string>& file_names) {
  const bool taken = std::find(file_names.begin(), file_names.end(), "-") != file_names.end();
  return Screen(taken ? stderr : stdout);
}

void Table::add_column(std::string heading, Side side, int gap) {
  columns_.push_back({std::move(heading), side, gap});
}

void Table::add_row(std::vector<Cell> cells) {
  for (Cell& cell : cells) cell.text = printable(cell.text);
  rows_.push_back({std::move(cells), {}});
}

void Table::add_line(std::string_view text) { rows_.back().lines_below.push_back(printable(text)); }

std::vector<std::size_t> Table::widths() const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    widths.push_back(columns_[i].heading.size());
    for (const Row& row : rows_) widths[i] = std::max(widths[i], row.cells[i].text.size());
  }
  return widths;
}

std::size_t Table::width() const {
  std::size_t width = 0;
  for (std::size_t column : widths()) width += column;
  for (std::size_t i = 1; i < columns_.size(); ++i)
    width += static_cast<std::size_t>(columns_[i].gap);
  return width;
}

std::string Table::row_text(const std::vector<Cell>& cells, const std::vector<std::size_t>& widths,
                            const Screen& screen) const {
  std::string text;
  std::size_t blanks = 0;  // that come only if something follows them
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const std::size_t pad = widths[i] - cells[i].text.size();
    const bool right = columns_[i].side == Side::right;
    if (i > 0) blanks += static_cast<std::size_t>(columns_[i].gap);
    if (right) blanks += pad;
    if (!cells[i].text.empty()) {
      text.append(std::exchange(blanks, 0), ' ');
      text += screen.paint(cells[i].text, cells[i].colour);
    }
    if (!right) blanks += pad;
  }
  return text + '\n';
}

std::string Table::text(const Screen& screen) const {
  const auto widths = this->widths();
  std::vector<Cell> headings;
  for (const Column& column : columns_) headings.push_back({column.heading, Colour::faint});
  std::string text = row_text(headings, widths, screen);
  if (text == "\n") text.clear();
  for (const Row& row : rows_) {
    text += row_text(row.cells, widths, screen);
    for (const std::string& line : row.lines_below) {
      text.append(widths.front() + 2, ' ');
      text += screen.paint(line, Colour::faint) + '\n';
    }
  }
  return text;
}

std::string count_text(std::int64_t count) {
  if (count < 10000) return fmt::to_string(count);
  double value = static_cast<double>(count);
  for (const char* unit : {"k", "M", "G", "T"}) {
    value /= 1000;
    if (value < 999.5 || *unit == 'T')
      return fmt::format("{:.{}f} {}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0, unit);
  }
  return "";
}

std::string duration_text(double seconds) {
  if (seconds < 9.95) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::int64_t>(seconds + 0.5);
  if (whole < 120) return fmt::format("{} s", whole);
  if (whole < 7200) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

std::string plural(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string say(std::string_view label, std::string_view value) {
  return fmt::format("  {:<10} {}\n", fmt::format("{}:", label), printable(value));
}

ProgressLine::ProgressLine(bool wanted, std::int64_t expected)
    : on_(wanted && is_terminal(stderr)), expected_(std::max<std::int64_t>(1, expected)) {}

ProgressLine::~ProgressLine() {
  if (on_) Screen(stderr).print("\r\033[K");
}

void ProgressLine::update(std::int64_t done) {
  // Cases with nothing to judge are done too, but were not expected.
  update("", std::min(0.99, static_cast<double>(done) / static_cast<double>(expected_)));
}

void ProgressLine::update(const std::string& step, double share) {
  const auto now = Clock::now();
  if (!on_ || now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  if (share < share_) start_ = now;  // another step has begun
  share_ = share;
  const double passed = std::chrono::duration<double>(now - start_).count();
  const std::string left =
      share > 0 ? fmt::format(", {} left", duration_text(passed / share * (1 - share))) : "";
  Screen(stderr).print(
      fmt::format("\r\033[K{:.0f} %{}{}{}", 100 * share, left, step.empty() ? "" : ": ", step));
}

}  // namespace assay
