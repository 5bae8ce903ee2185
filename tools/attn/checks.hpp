/// Checks of numbers for flags, `->check(at_least(0))`. CLI11's own let "nan" pass, since no
/// comparison with it holds, and name bounds of 309 digits.

#pragma once

// SPDX-License-Identifier: Apache-2.0

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <sstream>
#include <string>

#include "attn/files/printable.hpp"

namespace attn::tools {

/// Takes finite numbers for which `fits` holds. `accepted` says which those are: in the help
/// behind the type, and to who gave another.
inline CLI::Validator number_that(const std::function<bool(double)>& fits,
                                  const std::string& accepted) {
  return CLI::Validator(
      [fits, accepted](std::string& text) -> std::string {
        char* end = nullptr;
        const double value = std::strtod(text.c_str(), &end);
        const bool number = !text.empty() && end == text.c_str() + text.size();
        if (number && std::isfinite(value) && fits(value)) return {};
        return "it takes a number, " + accepted + ", not " + files::in_quotes(text);
      },
      accepted);
}

inline std::string number_text(double value) {
  std::ostringstream text;
  text.precision(10);
  text << value;
  return text.str();
}

inline CLI::Validator at_least(double least) {
  return number_that([least](double value) { return value >= least; },
                     number_text(least) + " or more");
}

inline CLI::Validator above(double bound) {
  return number_that([bound](double value) { return value > bound; },
                     "above " + number_text(bound));
}

/// Both ends are accepted.
inline CLI::Validator between(double least, double most) {
  return number_that([=](double value) { return value >= least && value <= most; },
                     number_text(least) + " to " + number_text(most));
}

}  // namespace attn::tools
