// What people read: a screen with or without colour, columns that line up, numbers in units that
// fit, and a line of progress that leaves no trace.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace assay {

enum class Colour { plain, red, green, yellow, faint };

// A stream that is written to without ever throwing; the caller looks at the stream's state in the
// end.
class Screen {
 public:
  // Colour only on a terminal, and not where NO_COLOR is set.
  explicit Screen(std::FILE* file);

  void print(std::string_view text) const;
  std::string paint(std::string_view text, Colour) const;

 private:
  std::FILE* file_;
  bool colour_;
};

// Where a command prints for people: stdout, unless one of its files goes there.
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
  void add_line(std::string text);
  // Without headings where all are empty, and without blanks at the end of a line.
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
std::string joined(const std::vector<std::string>& words, std::string_view between = ", ");

// How much is done and how long the rest will take, on stderr if that is a terminal; erased when it
// goes.
class ProgressLine {
 public:
  explicit ProgressLine(bool wanted, std::int64_t expected = 1);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void update(std::int64_t done);
  // Of work in steps: the one it is at, and what share of it is done, from 0 to 1.
  void update(const std::string& step, double share);

 private:
  using Clock = std::chrono::steady_clock;
  bool on_;
  std::int64_t expected_;
  Clock::time_point start_ = Clock::now(), last_ = start_;
  double share_ = 0;
};

}  // namespace assay
