#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "report/page/draw.h"
#include "report/page/sections.h"
#include "report/words.h"

namespace assay::report {

using namespace draw;

namespace {

constexpr std::size_t most_marks = 60;  // the lines alone show more

std::string commit_of(const Moment& moment) {
  return moment.commit.empty() ? "unknown" : moment.commit.substr(0, 7);
}

double percent(double ratio) { return 100 * (ratio - 1); }

// The median of a variant's cells and the slowest of them, run by run.
Markup svg_of(const std::string& title, const std::vector<const Moment*>& moments) {
  constexpr double top = 30, bottom = 130;
  double low = -1, high = 1;
  for (const Moment* moment : moments) {
    low = std::min(low, percent(moment->median));
    high = std::max(high, percent(moment->slowest));
  }
  const Scale x{-0.5, static_cast<double>(moments.size()) - 0.5, left + 30, right};
  const Scale y{low, high, bottom, top};
  Markup all = label(left, 9, "change of time against the anchor, %: less is faster", "axis");
  for (double at : ticks(low, high)) {
    all += line(x.from, y(at), right, y(at), at == 0 ? "reference" : "grid");
    all += label(x.from - 4, y(at) + 3, fmt::format("{:.4g}", at), "tick", "end");
  }
  std::string slowest, median;
  std::vector<std::string> words;
  for (std::size_t i = 0; i < moments.size(); ++i) {
    const Moment& moment = *moments[i];
    const std::string at = position(x(static_cast<double>(i)));
    slowest += fmt::format("{},{} ", at, position(y(percent(moment.slowest))));
    median += fmt::format("{},{} ", at, position(y(percent(moment.median))));
    words.push_back(fmt::format("{}: median {}, slowest {} ({})", commit_of(moment),
                                change_of(moment.median), change_of(moment.slowest),
                                moment.slowest_problem));
    const std::string seen = fmt::format("{}, {}", words.back(), counted(moment.cells, "cell"));
    if (moments.size() > most_marks) continue;
    for (double ratio : {moment.slowest, moment.median})
      all += tag("circle",
                 {{"cx", at},
                  {"cy", position(y(percent(ratio)))},
                  {"r", "2.5"},
                  {"class", ratio == moment.median ? "plain" : "bad"}},
                 tag("title", seen));
  }
  all += draw::curve(slowest, "slowest") + draw::curve(median, "worst");
  all += box(left + 30, 15, 8, 3, "bad") + label(left + 42, 20, "the slowest cell", "note");
  all += box(left + 150, 15, 8, 3, "ours") + label(left + 162, 20, "the median", "note");
  all += label(x.from, bottom + 12, commit_of(*moments.front()), "tick");
  all += label(right, bottom + 12, commit_of(*moments.back()), "tick", "end");
  all += label((x.from + right) / 2, bottom + 24, "runs, by the date of their commits", "axis",
               "middle");
  std::ranges::reverse(words);  // the latest counts most
  return figure(title, some_of(words, 12), bottom + 30, all);
}

}  // namespace

Markup history_of(const VariantReport& variant) {
  std::vector<std::string> cards;
  for (const Moment& moment : variant.history) add_once(cards, moment.card);
  Markup all;
  for (const std::string& card : cards) {
    std::vector<const Moment*> moments;
    for (const Moment& moment : variant.history)
      if (moment.card == card) moments.push_back(&moment);
    all += svg_of("Time over commits" + (card.empty() ? "" : " on " + card), moments);
  }
  return all;
}

}  // namespace assay::report
