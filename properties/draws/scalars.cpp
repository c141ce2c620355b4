#include "properties/draws/scalars.h"

#include <algorithm>
#include <cmath>

namespace assay {
namespace {

constexpr float largest = 1e30f;

// What is nearly 1, say, may be taken for it.
float beside_usual(std::uint64_t random, float relative) {
  constexpr float usual[] = {1, 1, -1, 2};
  return usual[random % 4] * (random / 4 % 2 == 0 ? 1 + relative : 1 - relative);
}
float beside_usual(std::uint64_t random) {
  return beside_usual(random, std::ldexp(0.75f, -6 - static_cast<int>(random / 8 % 17)));
}

float any_scalar(Dice& dice, const std::vector<float>& hints) {
  if (!hints.empty() && dice.one_in(4)) {
    const float hint = dice.of(hints);
    const bool may_be_difference = std::abs(hint) > 0 && std::abs(hint) < 0.1f;
    if (may_be_difference && dice.one_in(2))
      return beside_usual(static_cast<std::uint64_t>(dice.between(0, 7)), hint / 2);
    if (std::abs(hint) <= largest) return hint;
  }
  const std::int64_t way = dice.between(1, 20);
  if (way <= 13) return dice.of({0.0f, 1.0f, -1.0f, 0.5f, 3.0f, 2.0f, -2.0f});
  if (way <= 16) {
    const std::int64_t any = dice.between(-4000, 4000);
    return way == 16 ? beside_usual(static_cast<std::uint64_t>(any + 4000))
                     : static_cast<float>(any) / 999.0f;
  }
  if (way == 20) {
    const float any = std::ldexp(1 + static_cast<float>(dice.between(0, 255)) / 256,
                                 static_cast<int>(dice.between(-100, 98)));
    return dice.one_in(2) ? any : -any;
  }
  return dice.of({-0.0f, 300.0f, -300.0f, 65504.0f, 65536.0f, 1e-3f, 1e-7f, -1e-7f, 1e-30f,
                  0x1p-100f, 1e30f, -1e30f, 0.1f, -0.5f, 4.0f, 0.25f});
}

// Whether one beside it of an ordinary magnitude would hide it, or be hidden.
bool is_far_from_one(float scalar) {
  return scalar != 0 && !(std::abs(scalar) > 0.01f && std::abs(scalar) < 100);
}

constexpr int least_exponent = -149, least_normal = -126, most_exponent = 127;
constexpr int far_apart = 200;  // by more than this, one of the terms never shows

// Of this exponent: a power of 2, or any number with as many bits as it has there.
float of_exponent(Dice& dice, int exponent) {
  const auto fraction = static_cast<float>(dice.between(0, (1 << 23) - 1)) * 0x1p-23f;
  const float any = dice.one_in(2) ? 1.0f : 1 + fraction;
  const float scalar = std::ldexp(exponent < least_normal ? std::min(any, 1.5f) : any, exponent);
  return dice.one_in(2) ? scalar : -scalar;
}

int any_exponent(Dice& dice) {
  const auto between = [&](int least, int most) {
    return static_cast<int>(dice.between(least, most));
  };
  switch (dice.between(1, 8)) {
    case 1:
    case 2: return between(least_exponent, least_normal - 1);
    case 3:
    case 4: return between(most_exponent - 16, most_exponent);
    default: return between(least_exponent, most_exponent);
  }
}

}  // namespace

std::pair<float, float> draw_extreme_scalars(Dice& dice, const std::vector<float>& hints) {
  const auto ordinary = [&] { return of_exponent(dice, static_cast<int>(dice.between(-4, 4))); };
  if (!hints.empty() && dice.one_in(4)) {
    const float hint = dice.of(hints) * dice.of({1.0f, 1.0f, 0.5f, 2.0f, -1.0f});
    if (std::isfinite(hint) && hint != 0)
      return dice.one_in(2) ? std::pair{hint, ordinary()} : std::pair{ordinary(), hint};
  }
  switch (dice.between(1, 7)) {
    case 1: return {of_exponent(dice, any_exponent(dice)), 0.0f};
    case 2: return {of_exponent(dice, any_exponent(dice)), ordinary()};
    case 3: return {ordinary(), of_exponent(dice, any_exponent(dice))};
    case 4:
    case 5: {  // far apart, but not so far that no data make both of them show
      const auto little = static_cast<int>(dice.between(least_exponent, -20));
      const float alpha = of_exponent(dice, little);
      return {alpha, of_exponent(dice, little + static_cast<int>(dice.between(129, 146)))};
    }
    default: break;
  }
  const int alpha = any_exponent(dice);
  int beta = any_exponent(dice);
  while (std::abs(alpha - beta) > far_apart) beta = any_exponent(dice);
  return {of_exponent(dice, alpha), of_exponent(dice, beta)};
}

std::vector<std::pair<float, float>> all_extreme_scalars(Dice& dice) {
  struct Band {
    int least, most;
  };
  constexpr Band bands[] = {{least_exponent, least_normal - 1},
                            {least_normal, -20},
                            {-4, 4},
                            {20, most_exponent - 17},
                            {most_exponent - 16, most_exponent}};
  const auto exponent_in = [&](const Band& band) {
    return static_cast<int>(dice.between(band.least, band.most));
  };
  std::vector<std::pair<float, float>> pairs;
  for (const Band& of_alpha : bands) {
    pairs.emplace_back(of_exponent(dice, exponent_in(of_alpha)), 0.0f);
    for (const Band& of_beta : bands) {
      if (of_beta.least - of_alpha.most > far_apart || of_alpha.least - of_beta.most > far_apart)
        continue;
      int alpha = exponent_in(of_alpha), beta = exponent_in(of_beta);
      while (std::abs(alpha - beta) > far_apart)
        alpha = exponent_in(of_alpha), beta = exponent_in(of_beta);
      pairs.emplace_back(of_exponent(dice, alpha), of_exponent(dice, beta));
    }
  }
  return pairs;
}

std::pair<float, float> draw_scalars(Dice& dice, const std::vector<float>& hints) {
  const float alpha = any_scalar(dice, hints), beta = any_scalar(dice, hints);
  if (is_far_from_one(beta) && dice.one_in(2))
    return {dice.of({0.0f, beta, -beta, beta / 2, beta / 3}), beta};
  if (is_far_from_one(alpha) && dice.one_in(2))
    return {alpha, dice.of({0.0f, alpha, -alpha, alpha / 2, alpha / 3})};
  if (dice.one_in(
          16)) {  // where a sum counts for little beside C, it still shows beside small ones
    const float little = dice.of({1e-4f, 1e-5f, 1e-6f, 5e-7f, 1e-7f});
    return {dice.one_in(2) ? little : -little, dice.of({1.0f, 1.0f, -1.0f})};
  }
  if (dice.one_in(16)) return {alpha, alpha};
  if (dice.one_in(16)) return {alpha, -alpha};
  return {alpha, beta};
}

}  // namespace assay
