// Checks a property on random problems and prints the smallest one that breaks it.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <exception>
#include <functional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/support/problem.hpp"

namespace attn::test {
namespace {

/// Smaller specs to try, the boldest first.
std::vector<Spec> smaller(const Spec& spec) {
  std::vector<Spec> tries;
  const auto drop_each = [&](auto member) {
    for (std::size_t i = 0; i < (spec.*member).size(); ++i) {
      Spec less = spec;
      (less.*member).erase((less.*member).begin() + static_cast<std::ptrdiff_t>(i));
      tries.push_back(std::move(less));
    }
  };
  const auto set = [&](auto member, auto value) {
    if (spec.*member == value) return;
    Spec less = spec;
    less.*member = value;
    tries.push_back(std::move(less));
  };
  drop_each(&Spec::scores);
  drop_each(&Spec::masks);
  drop_each(&Spec::factors);
  set(&Spec::normaliser, NormaliserKind::softmax);
  if (spec.similarity != Similarity::dot && spec.similarity != Similarity::given)
    set(&Spec::similarity, Similarity::dot);
  set(&Spec::d_weights, false);
  set(&Spec::d_stat, false);
  set(&Spec::keep, false);
  set(&Spec::q_lay, Lay::packed);
  set(&Spec::kv_lay, Lay::packed);
  set(&Spec::out_lay, Lay::packed);
  set(&Spec::wide_tables, false);
  set(&Spec::dtype, DType::f32);
  for (auto member : {&Spec::batch, &Spec::kv_heads, &Spec::group, &Spec::value_channels,
                      &Spec::queries, &Spec::keys, &Spec::channels}) {
    if (member == &Spec::channels &&
        (spec.similarity == Similarity::sum || spec.similarity == Similarity::given))
      continue;
    if (spec.*member > 1) {
      set(member, 1);
      set(member, spec.*member / 2);
      set(member, spec.*member - 1);
    }
  }
  return tries;
}

std::string held(const Spec& spec, const Property& property) {
  try {
    const Problem problem(spec);
    return property(problem);
  } catch (const std::exception& error) {
    return std::string("threw: ") + error.what();
  }
}

}  // namespace

void check_spec(const Spec& given, const Property& property) {
  Spec spec = given;
  std::string wrong = held(spec, property);
  if (wrong.empty()) return;
  for (int rounds = 0; rounds < 40; ++rounds) {
    bool shrunk = false;
    for (Spec& less : smaller(spec)) {
      const std::string still = held(less, property);
      if (still.empty()) continue;
      spec = std::move(less);
      wrong = still;
      shrunk = true;
      break;
    }
    if (!shrunk) break;
  }
  ADD_FAILURE() << wrong << "\n  smallest: " << describe(spec)
                << "\n  drawn as: " << describe(given);
}

void check_property(std::string_view name, int count, Size size, const Property& property,
                    const std::function<void(Spec&)>& adjust) {
  for (int i = 0; i < count && !testing::Test::HasFailure(); ++i) {
    Spec spec = draw_spec(std::string(name) + " " + std::to_string(i), size);
    if (adjust) adjust(spec);
    check_spec(spec, property);
  }
}

std::string difference(std::string_view name, const std::vector<double>& got,
                       const std::vector<double>& want, double within) {
  std::ostringstream out;
  if (got.size() != want.size()) {
    out << name << ": " << got.size() << " numbers, expected " << want.size() << "; ";
    return out.str();
  }
  double largest = 0.0;
  for (const double x : want)
    if (std::isfinite(x)) largest = std::max(largest, std::fabs(x));
  const double allowed = within * (1.0 + largest);
  std::size_t worst = got.size();
  std::size_t wrong = 0;
  double off = 0.0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i] == want[i] || (std::isnan(got[i]) && std::isnan(want[i]))) continue;
    const double apart = std::fabs(got[i] - want[i]);
    if (apart <= allowed) continue;
    ++wrong;
    if (worst == got.size() || !(apart <= off)) {
      worst = i;
      off = apart;
    }
  }
  if (wrong == 0) return "";
  out << name << ": " << wrong << " of " << got.size() << " wrong, worst at " << worst
      << ": got " << got[worst] << ", want " << want[worst] << ", allowed " << allowed << "; ";
  return out.str();
}

}  // namespace attn::test
