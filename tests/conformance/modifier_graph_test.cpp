#include "tools/conformance/modifier_graph.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/json.hpp"
#include "support/tolerance.hpp"

namespace attn::conformance {
namespace {

constexpr std::array<std::int64_t, 4> kGrid{2, 3, 4, 5};

Modifier compiled(const std::string& nodes, const std::string& constants = "") {
  const std::string text = "{\"graph\": [" + nodes +
                           "], \"inputs\": [\"s\"], \"outputs\": [\"out\"], \"init\": {" +
                           constants + "}}";
  return compile_modifier(files::parse_json(text, "test"), kGrid, "test");
}

std::string node(const std::string& op, const std::string& inputs, const std::string& output,
                 const std::string& attributes = "") {
  return R"({"op": ")" + op + R"(", "in": [)" + inputs + R"(], "out": [")" + output +
         R"("], "attr": {)" + attributes + "}}";
}

double run(const Modifier& modifier, double s, const Site<double>& at = {}) {
  const AnyScore stage = modifier.score();
  return stage.forward(stage.data, s, at);
}

struct Unary {
  const char* op;
  std::function<double(double)> want;
  const char* attributes = "";
  double low = -4.0;
};

TEST(ModifierGraph, UnaryOperationsAreTheirFormulas) {
  const std::vector<Unary> operations{
      {"Neg", [](double x) { return -x; }},
      {"Abs", [](double x) { return std::fabs(x); }},
      {"Sign", [](double x) { return x > 0   ? 1.0
                                     : x < 0 ? -1.0
                                             : 0.0; }},
      {"Floor", [](double x) { return std::floor(x); }},
      {"Ceil", [](double x) { return std::ceil(x); }},
      {"Round", [](double x) { return std::nearbyint(x); }},
      {"Exp", [](double x) { return std::exp(x); }},
      {"Log", [](double x) { return std::log(x); }, "", 0.5},
      {"Sqrt", [](double x) { return std::sqrt(x); }, "", 0.0},
      {"Reciprocal", [](double x) { return 1 / x; }, "", 0.5},
      {"Tanh", [](double x) { return std::tanh(x); }},
      {"Sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }},
      {"HardSigmoid", [](double x) { return std::fmax(0, std::fmin(1, 0.2 * x + 0.5)); }},
      {"Relu", [](double x) { return std::fmax(x, 0); }},
      {"LeakyRelu", [](double x) { return x < 0 ? 0.25 * x : x; }, "\"alpha\": 0.25"},
      {"Elu", [](double x) { return x < 0 ? std::exp(x) - 1 : x; }},
      {"Softplus", [](double x) { return std::log1p(std::exp(x)); }},
      {"Softsign", [](double x) { return x / (1 + std::fabs(x)); }},
      {"Identity", [](double x) { return x; }},
      {"Cast", [](double x) { return x; }, "\"to\": 1"},
      {"Cast", [](double x) { return std::trunc(x); }, "\"to\": 7"},
      {"Cast", [](double x) { return x != 0 ? 1.0 : 0.0; }, "\"to\": 9"},
  };
  for (const Unary& operation : operations) {
    const Modifier modifier =
        compiled(node(operation.op, "\"s\"", "out", operation.attributes));
    for (double x = operation.low; x <= 4.0; x += 0.25)
      EXPECT_NEAR(run(modifier, x), operation.want(x), test::kFloat)
          << operation.op << " of " << x;
  }
}

TEST(ModifierGraph, BinaryOperationsAreTheirFormulas) {
  const std::vector<std::pair<const char*, std::function<double(double, double)>>> operations{
      {"Add", [](double x, double y) { return x + y; }},
      {"Sub", [](double x, double y) { return x - y; }},
      {"Mul", [](double x, double y) { return x * y; }},
      {"Div", [](double x, double y) { return x / y; }},
      {"Mod", [](double x, double y) { return x - std::floor(x / y) * y; }},
      {"Min", [](double x, double y) { return std::fmin(x, y); }},
      {"Max", [](double x, double y) { return std::fmax(x, y); }},
      {"Less", [](double x, double y) { return x < y; }},
      {"LessOrEqual", [](double x, double y) { return x <= y; }},
      {"Greater", [](double x, double y) { return x > y; }},
      {"GreaterOrEqual", [](double x, double y) { return x >= y; }},
      {"Equal", [](double x, double y) { return x == y; }},
  };
  for (const auto& [op, want] : operations) {
    const Modifier modifier = compiled(node(op, R"("s", "c")", "out"), "\"c\": 1.5");
    for (double x = -3.0; x <= 3.0; x += 0.5)
      EXPECT_NEAR(run(modifier, x), want(x, 1.5), test::kFloat) << op << " of " << x;
  }
  for (const double exponent : {-2.0, -1.0, 0.0, 1.0, 3.0}) {
    const Modifier modifier =
        compiled(node("Pow", R"("s", "c")", "out"), "\"c\": " + std::to_string(exponent));
    for (const double x : {-1.5, 0.5, 2.0})
      EXPECT_NEAR(run(modifier, x), std::pow(x, exponent), test::kFloat)
          << x << "^" << exponent;
  }
  const Modifier root = compiled(node("Pow", R"("s", "c")", "out"), "\"c\": 1.5");
  EXPECT_NEAR(run(root, 2.25), std::pow(2.25, 1.5), test::kFloat);
}

TEST(ModifierGraph, ConditionsCombine) {
  const std::string compare =
      node("Less", R"("s", "one")", "a") + "," + node("Greater", R"("s", "zero")", "b") + ",";
  const std::string constants = R"("one": 1.0, "zero": 0.0)";
  const auto value = [&](const std::string& op, double s) {
    const std::string inputs = op == "Not" ? R"("a")" : R"("a", "b")";
    return run(compiled(compare + node(op, inputs, "c") + "," +
                            node("Cast", "\"c\"", "out", "\"to\": 1"),
                        constants),
               s);
  };
  for (const double s : {-0.5, 0.5, 1.5}) {
    EXPECT_EQ(value("And", s), s < 1 && s > 0) << s;
    EXPECT_EQ(value("Or", s), s < 1 || s > 0) << s;
    EXPECT_EQ(value("Xor", s), (s < 1) != (s > 0)) << s;
    EXPECT_EQ(value("Not", s), !(s < 1)) << s;
  }
}

/// Every way to write the index of an axis.
TEST(ModifierGraph, RangesBecomeIndices) {
  const std::string extents = node("Shape", "\"s\"", "shape") + ",";
  const std::string constants =
      R"("zero": 0, "one": 1, "two": 2, "three": 3, "q": [-1, 1], "ax": [0, 1, 3], "all": [4, 5])";
  const auto from = [&](const std::string& text) {
    return compiled(extents + text + "," + node("Cast", "\"index\"", "real", "\"to\": 1") +
                        "," + node("Add", R"("s", "real")", "out"),
                    constants);
  };
  const std::string rows = node("Gather", R"("shape", "two")", "n") + "," +
                           node("Range", R"("zero", "n", "one")", "r") + ",";
  const Site<double> at{1, 2, 3, 4};
  EXPECT_EQ(run(from(rows + node("Reshape", R"("r", "q")", "index")), 0.5, at), 3.5);
  EXPECT_EQ(run(from(rows + node("Unsqueeze", R"("r", "ax")", "index")), 0.5, at), 3.5);
  const std::string keys = node("Gather", R"("shape", "three")", "n") + "," +
                           node("Range", R"("zero", "n", "one")", "r") + ",";
  EXPECT_EQ(run(from(keys + node("Mul", R"("r", "two")", "index")), 0.5, at), 8.5);
  EXPECT_EQ(run(from(keys + node("Expand", R"("r", "all")", "index")), 0.5, at), 4.5);
}

TEST(ModifierGraph, ConstantsOfHeadsBecomeTables) {
  const Modifier modifier = compiled(
      node("Mul", R"("s", "slopes")", "a") + "," + node("Add", R"("a", "bias")", "out"),
      R"("slopes": [[[0.5]], [[2.0]], [[7.0]]], "bias": [0.0, 1.0, 10.0, 100.0, 1000.0])");
  EXPECT_EQ(modifier.tables.size(), 2u);
  EXPECT_EQ(run(modifier, 1.0, {1, 2, 0, 3}), 107.0);
  EXPECT_EQ(run(modifier, 4.0, {0, 0, 3, 4}), 1002.0);
}

TEST(ModifierGraph, AnEmptyGraphIsTheIdentity) {
  const auto text = R"({"graph": [], "inputs": ["s"], "outputs": ["s"], "init": {}})";
  const Modifier modifier = compile_modifier(files::parse_json(text, "test"), kGrid, "test");
  EXPECT_EQ(run(modifier, 0.75), 0.75);
}

TEST(ModifierGraph, WhatCannotBeSaidIsRefused) {
  EXPECT_THROW(compiled(node("Det", "\"s\"", "out")), FileError);
  EXPECT_THROW(compiled(node("Add", "\"s\"", "out")), FileError);
  EXPECT_THROW(compiled(node("Add", R"("s", "t")", "out")), FileError);
  EXPECT_THROW(compiled(node("Identity", "\"c\"", "out"), "\"c\": 1.0"), FileError);
  EXPECT_THROW(compiled(node("Add", R"("s", "c")", "out"), "\"c\": [1.0, 2.0]"), FileError);
  EXPECT_THROW(compiled(node("Cast", "\"s\"", "out", "\"to\": 8")), FileError);
  EXPECT_THROW(compiled(node("Transpose", "\"s\"", "out")), FileError);
  EXPECT_THROW(
      compiled(node("Range", R"("z", "n", "d")", "out"), R"("z": 0, "n": 1e300, "d": 1)"),
      FileError);
  EXPECT_THROW(compiled(node("Gather", R"("c", "i")", "out"), R"("c": [1, 2], "i": 5)"),
               FileError);
  std::string longer = node("Exp", "\"s\"", "x0");
  for (int i = 0; i < 40; ++i)
    longer += "," + node("Exp", "\"x" + std::to_string(i) + "\"", "x" + std::to_string(i + 1));
  EXPECT_THROW(compiled(longer + "," + node("Identity", "\"x40\"", "out")), FileError);
}

}  // namespace
}  // namespace attn::conformance
