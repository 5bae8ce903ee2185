// Programs of instructions: each operation, positions, select, gradients.

#include "attn/score/program.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>

#include "support/score_laws.hpp"
#include "support/tolerance.hpp"

namespace attn {
namespace {

using score::Instruction;
using score::Operation;
using score::Program;

Program program_of(std::initializer_list<Instruction> steps,
                   std::initializer_list<float> constants = {}) {
  Program program;
  program.count = 0;
  for (const Instruction& step : steps) program.code[program.count++] = step;
  int next = 0;
  for (const float constant : constants) program.constants[next++] = constant;
  return program;
}

/// One operation of s and 2.
double applied(Operation operation, double s) {
  const Program program =
      program_of({{Operation::score}, {Operation::constant, 0}, {operation, 0, 1}}, {2.0f});
  return program.forward(s, Site<double>{}, Params<double>{});
}

TEST(Program, ComputesEachOperation) {
  for (const double s : {-1.5, -0.25, 0.0, 0.5, 2.0, 3.75}) {
    EXPECT_DOUBLE_EQ(applied(Operation::add, s), s + 2);
    EXPECT_DOUBLE_EQ(applied(Operation::subtract, s), s - 2);
    EXPECT_DOUBLE_EQ(applied(Operation::multiply, s), s * 2);
    EXPECT_DOUBLE_EQ(applied(Operation::divide, s), s / 2);
    EXPECT_DOUBLE_EQ(applied(Operation::minimum, s), std::fmin(s, 2));
    EXPECT_DOUBLE_EQ(applied(Operation::maximum, s), std::fmax(s, 2));
    EXPECT_EQ(applied(Operation::less, s), s < 2 ? 1 : 0);
    EXPECT_EQ(applied(Operation::less_equal, s), s <= 2 ? 1 : 0);
    EXPECT_EQ(applied(Operation::equal, s), s == 2 ? 1 : 0);
    EXPECT_DOUBLE_EQ(applied(Operation::negate, s), -s);
    EXPECT_DOUBLE_EQ(applied(Operation::absolute, s), std::fabs(s));
    EXPECT_DOUBLE_EQ(applied(Operation::floor, s), std::floor(s));
    EXPECT_DOUBLE_EQ(applied(Operation::exponential, s), std::exp(s));
    EXPECT_DOUBLE_EQ(applied(Operation::tanh, s), std::tanh(s));
    EXPECT_DOUBLE_EQ(applied(Operation::sigmoid, s), 1 / (1 + std::exp(-s)));
    if (s < 0) continue;
    EXPECT_DOUBLE_EQ(applied(Operation::logarithm, s), std::log(s));
    EXPECT_DOUBLE_EQ(applied(Operation::square_root, s), std::sqrt(s));
    EXPECT_NEAR(applied(Operation::power, s), s * s, test::kDouble);
  }
}

TEST(Program, ReadsThePlaceOfAScore) {
  const Site<double> at{2, 3, 5, 7};
  const auto read = [&](Operation operation) {
    return program_of({{operation}}).forward(0.5, at, Params<double>{});
  };
  EXPECT_EQ(read(Operation::score), 0.5);
  EXPECT_EQ(read(Operation::batch), 2);
  EXPECT_EQ(read(Operation::head), 3);
  EXPECT_EQ(read(Operation::query), 5);
  EXPECT_EQ(read(Operation::key), 7);
}

TEST(Program, SelectLosesTheOtherSide) {
  // s where k <= q, else -inf: a causal mask.
  const Program causal = program_of({{Operation::key},
                                     {Operation::query},
                                     {Operation::less_equal, 0, 1},
                                     {Operation::score},
                                     {Operation::constant, 0},
                                     {Operation::select, 2, 3, 4}},
                                    {-kInfinity});
  EXPECT_EQ(causal.forward(0.5, Site<double>{0, 0, 3, 3}, Params<double>{}), 0.5);
  EXPECT_EQ(causal.forward(0.5, Site<double>{0, 0, 3, 4}, Params<double>{}), -HUGE_VAL);
}

TEST(Program, BackwardMatchesDifferencesForScoresAndTables) {
  // cap tanh(s / cap) + slope * (k - q) + bias[k].
  const Program program = program_of({{Operation::score},
                                      {Operation::constant, 0},
                                      {Operation::divide, 0, 1},
                                      {Operation::tanh, 2},
                                      {Operation::multiply, 3, 1},
                                      {Operation::key},
                                      {Operation::query},
                                      {Operation::subtract, 5, 6},
                                      {Operation::table_value, 0},
                                      {Operation::multiply, 7, 8},
                                      {Operation::add, 4, 9},
                                      {Operation::table_along, 1},
                                      {Operation::add, 10, 11}},
                                     {2.0f});
  test::Random random("Program tables");
  test::expect_backward_matches_differences(program,
                                            {test::TestTable({1, test::kHeads, 1, 1}, random),
                                             test::TestTable({1, 1, 1, test::kKeys}, random)});
}

}  // namespace
}  // namespace attn
