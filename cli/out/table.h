// What people read: a screen with or without colour, columns that line up, numbers in units that
// fit, and a line of progress that leaves no trace. Tables and labelled lines make the text of
// others safe to print: it can neither break a line nor send commands to the terminal.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

enum class Colour { plain, red, green, yellow, faint };

// A stream; writing to it never throws, so the caller checks the stream's state at the end.
class Screen {
 public:
  // Has colour only on a terminal, and not if NO_COLOR is set.
  explicit Screen(std::FILE* file);

  void print(std::string_view text) const;
  std::string paint(std::string_view text, Colour) const;

 private:
  std::FILE* file_;
  bool colour_;
};

// Where a command prints for people: stdout, or stderr if one of its files goes to stdout.
Screen screen_beside(const std::vector<std::string>& file_names);

enum class Side { left, right };

class Table {
 public:
  struct Cell {
    std::string text;
    Colour colour = Colour::plain;
  };

  // `gap` is the number of blanks before the column.
  void add_column(std::string heading, Side, int gap = 2);
  void add_row(std::vector<Cell> cells);
  // Text below the last row, indented by the first column.
  void add_line(std::string_view text);
  // Leaves out the headings if all are empty, and blanks at the end of a line.
  std::string text(const Screen&) const;
  std::size_t width() const;  // of a row

 private:
  struct Column {
    std::string heading;
    Side side;
    int gap;
  };
  struct Row {
    std::vector<Cell> cells;
    std::vector<std::string> lines_below;
  };
  std::vector<std::size_t> widths() const;
  std::string row_text(const std::vector<Cell>&, const std::vector<std::size_t>& widths,
                       const Screen&) const;

  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

std::string count_text(std::int64_t count);                     // 9999, 31.2 k, 4.56 M
std::string duration_text(double seconds);                      // 0.4 s, 48 s, 2 min 5 s
std::string plural(std::int64_t count, std::string_view noun);  // 1 claim, 2 claims

// "  label:     value", a line of its own.
std::string say(std::string_view label, std::string_view value);

// Shows on stderr how much is done and how long the rest will take, if stderr is a terminal. Erases
// itself at the end.
class ProgressLine {
 public:
  explicit ProgressLine(bool wanted, std::int64_t expected = 1);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void update(std::int64_t done);
  // For work in steps: the current step, and the share of it that is done, from 0 to 1.
  void update(const std::string& step, double share);

 private:
  using Clock = std::chrono::steady_clock;
  bool on_;
  std::int64_t expected_;
  Clock::time_point start_ = Clock::now(), last_ = start_;
  double share_ = 0;
};

}  // namespace assay
