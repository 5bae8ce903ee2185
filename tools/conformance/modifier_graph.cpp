#include "tools/conformance/modifier_graph.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/core/table.hpp"
#include "attn/files/array.hpp"
#include "attn/files/json.hpp"
#include "attn/files/printable.hpp"
#include "attn/kernels/erase.hpp"
#include "attn/kernels/stage.hpp"
#include "attn/score/program.hpp"
#include "tools/conformance/array.hpp"
#include "tools/conformance/constant_ops.hpp"
#include "tools/conformance/lowering.hpp"
#include "tools/conformance/memory.hpp"
#include "tools/conformance/operators.hpp"

namespace attn::conformance {
namespace {

using nlohmann::json;
using score::Instruction;
using score::Operation;
using Grid = std::array<std::int64_t, 4>;

/// Instructions as they are needed; the same one is never written twice.
class CodeAlgebra {
 public:
  using Term = int;  ///< the place of an instruction

  explicit CodeAlgebra(score::Program& program) : program_(program) { program_.count = 0; }

  Term emit(Operation operation, int a = 0, int b = 0, int c = 0) {
    const Instruction next{operation, static_cast<std::uint8_t>(a),
                           static_cast<std::uint8_t>(b), static_cast<std::uint8_t>(c)};
    for (int i = 0; i < program_.count; ++i) {
      const Instruction& old = program_.code[i];
      if (old.operation == next.operation && old.a == next.a && old.b == next.b &&
          old.c == next.c)
        return i;
    }
    if (program_.count == score::Program::kMaxInstructions)
      fail<FileError>("the graph needs more than ", score::Program::kMaxInstructions,
                      " instructions");
    program_.code[program_.count] = next;
    return program_.count++;
  }

  Term constant(double x) {
    const auto value = static_cast<float>(x);
    int place = 0;
    while (place < constants_ && std::bit_cast<std::uint32_t>(program_.constants[place]) !=
                                     std::bit_cast<std::uint32_t>(value))
      ++place;
    if (place == constants_) {
      if (constants_ == score::Program::kMaxConstants)
        fail<FileError>("the graph needs more than ", score::Program::kMaxConstants,
                        " constants");
      program_.constants[constants_++] = value;
    }
    return emit(Operation::constant, place);
  }

  // clang-format off
  Term add(Term x, Term y) { return emit(Operation::add, x, y); }
  Term subtract(Term x, Term y) { return emit(Operation::subtract, x, y); }
  Term multiply(Term x, Term y) { return emit(Operation::multiply, x, y); }
  Term divide(Term x, Term y) { return emit(Operation::divide, x, y); }
  Term power(Term x, Term y) { return emit(Operation::power, x, y); }
  Term minimum(Term x, Term y) { return emit(Operation::minimum, x, y); }
  Term maximum(Term x, Term y) { return emit(Operation::maximum, x, y); }
  Term less(Term x, Term y) { return emit(Operation::less, x, y); }
  Term less_equal(Term x, Term y) { return emit(Operation::less_equal, x, y); }
  Term equal(Term x, Term y) { return emit(Operation::equal, x, y); }
  Term negate(Term x) { return emit(Operation::negate, x); }
  Term absolute(Term x) { return emit(Operation::absolute, x); }
  Term floor(Term x) { return emit(Operation::floor, x); }
  Term exponential(Term x) { return emit(Operation::exponential, x); }
  Term logarithm(Term x) { return emit(Operation::logarithm, x); }
  Term square_root(Term x) { return emit(Operation::square_root, x); }
  Term tanh(Term x) { return emit(Operation::tanh, x); }
  Term sigmoid(Term x) { return emit(Operation::sigmoid, x); }
  Term select(Term condition, Term x, Term y) { return emit(Operation::select, condition, x, y); }
  // clang-format on

  std::optional<double> known(Term x) const {
    const Instruction& step = program_.code[x];
    if (step.operation != Operation::constant) return std::nullopt;
    return static_cast<double>(program_.constants[step.a]);
  }

 private:
  score::Program& program_;
  int constants_ = 0;
};

/// A value of the graph: numbers that are known now, or the result of an instruction, which has
/// one number for each score.
struct Value {
  std::shared_ptr<const Constant> constant;  ///< null for a result
  Kind kind = Kind::real;
  Shape shape;
  int place = 0;
};

int wide_axes(const Shape& shape) {
  return static_cast<int>(
      std::count_if(shape.begin(), shape.end(), [](std::int64_t n) { return n != 1; }));
}

class Compiler {
 public:
  explicit Compiler(const Grid& grid) : grid_(grid), code_(modifier_.program) {}

  Modifier compile(const json& graph) {
    const json& inputs = files::member(graph, "inputs", "graph");
    const json& outputs = files::member(graph, "outputs", "graph");
    if (!inputs.is_array() || inputs.size() != 1 || !outputs.is_array() || outputs.size() != 1)
      fail<FileError>("a modifier has one input and one output");
    const Shape whole(grid_.begin(), grid_.end());
    values_[files::to_text(inputs[0], "graph: inputs")] =
        Value{nullptr, Kind::real, whole, code_.emit(Operation::score)};
    const json& constants = files::member(graph, "init", "graph");
    if (!constants.is_object()) fail<FileError>("graph: init: expected an object");
    for (const auto& [name, value] : constants.items())
      values_[name] = known(constant_of(value, "initialiser " + files::in_quotes(name)));
    const json& nodes = files::member(graph, "graph", "graph");
    if (!nodes.is_array()) fail<FileError>("graph: expected a list of nodes");
    for (const json& node : nodes) add(node);

    const std::string& last = files::to_text(outputs[0], "graph: outputs");
    const Value& result = find(last);
    if (result.shape != whole)
      fail<FileError>("the graph's output has shape ", files::shape_text(result.shape),
                      "; expected that of its input, ", files::shape_text(whole));
    finish(place_of(result));
    return std::move(modifier_);
  }

 private:
  static Value known(Constant constant) {
    Value value{nullptr, constant.kind, constant.shape, 0};
    value.constant = std::make_shared<const Constant>(std::move(constant));
    return value;
  }

  const Value& find(const std::string& name) const {
    const auto at = values_.find(name);
    if (at == values_.end()) fail<FileError>("the graph has no value ", files::in_quotes(name));
    return at->second;
  }

  void add(const json& node) {
    const std::string where = "graph node";
    const std::string& operation = files::to_text(files::member(node, "op", where), where);
    const json& inputs = files::member(node, "in", where);
    const json& outputs = files::member(node, "out", where);
    if (!inputs.is_array() || !outputs.is_array() || outputs.size() != 1)
      fail<FileError>(files::in_quotes(operation), ": expected inputs and one output");
    const json& values = files::member(node, "attr", where);
    if (!values.is_object())
      fail<FileError>(files::in_quotes(operation), ": attr: expected an object");
    Attributes attributes(values);
    std::vector<const Value*> operands;
    for (const json& name : inputs) {
      const std::string& text = files::to_text(name, where);
      operands.push_back(text.empty() ? nullptr : &find(text));
    }
    Value result = evaluate(operation, operands, attributes);
    attributes.check_all_known();
    values_[files::to_text(outputs[0], where)] = std::move(result);
  }

  Value evaluate(const std::string& operation, const std::vector<const Value*>& operands,
                 Attributes& attributes) {
    if (Lowering<NumberAlgebra>::table().count(operation) != 0)
      return elementwise(operation, operands, attributes);
    if (!is_constant_op(operation))
      fail<FileError>("unknown operation ", files::in_quotes(operation), " in a graph");
    if (operation == "Shape" && operands.size() == 1 && operands[0] != nullptr)
      return known(shape_of(operands[0]->shape, attributes));
    if (std::optional<Value> same = regrouped(operation, operands, attributes)) return *same;
    std::vector<const Constant*> constants;
    for (const Value* operand : operands) {
      if (operand != nullptr && !operand->constant)
        fail<FileError>(files::in_quotes(operation),
                        " of scores is not known here; it is of constants");
      constants.push_back(operand == nullptr ? nullptr : operand->constant.get());
    }
    return known(constant_op(operation, constants, attributes));
  }

  /// Reshapes of a value that belongs to scores may only add or drop axes of extent 1 in front.
  std::optional<Value> regrouped(const std::string& operation,
                                 const std::vector<const Value*>& operands,
                                 Attributes& attributes) {
    const bool reshapes = operation == "Reshape" || operation == "Unsqueeze" ||
                          operation == "Squeeze" || operation == "Expand";
    if (!reshapes || operands.empty() || operands[0] == nullptr || operands[0]->constant)
      return std::nullopt;
    const Constant* shape =
        operands.size() > 1 && operands[1] != nullptr ? operands[1]->constant.get() : nullptr;
    Value value = *operands[0];
    const Shape before = value.shape;
    value.shape = reshaped(operation, before, shape, attributes);
    const auto stripped = [](const Shape& from) {
      return Shape(std::find_if(from.begin(), from.end(), [](auto n) { return n != 1; }),
                   from.end());
    };
    if (operation != "Expand" && stripped(value.shape) != stripped(before))
      fail<FileError>(files::in_quotes(operation), " of scores from ",
                      files::shape_text(before), " to ", files::shape_text(value.shape),
                      " is not known here");
    return value;
  }

  Value elementwise(const std::string& operation, const std::vector<const Value*>& operands,
                    Attributes& attributes) {
    const auto& numbers = Lowering<NumberAlgebra>::table().at(operation);
    // Clip's limits may be absent; each absent one stands for no limit.
    std::vector<Value> present;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (operands[i] != nullptr) {
        present.push_back(*operands[i]);
      } else if (operation == "Clip" && i > 0) {
        present.push_back(known({Kind::real, {}, {i == 1 ? -HUGE_VAL : HUGE_VAL}}));
      } else {
        fail<FileError>(operation, ": operand ", i, " is missing");
      }
    }
    if (present.size() < numbers.least || present.size() > numbers.most)
      fail<FileError>(operation, ": ", present.size(), " operands; expected ", numbers.least,
                      numbers.most == numbers.least ? "" : " or more");
    const std::size_t typed = operation == "Where" ? 1 : 0;
    const ElementSettings settings =
        element_settings(operation, present[typed].kind, attributes);
    Shape shape;
    bool all_known = true;
    for (const Value& value : present) {
      shape = broadcast(shape, value.shape);
      all_known = all_known && value.constant != nullptr;
    }
    Kind kind = numbers.condition ? Kind::condition : present[typed].kind;
    if (operation == "Cast") kind = settings.to;
    // Two axes would make a matrix of what two indices and an instruction can say.
    if (all_known && wide_axes(shape) <= 1)
      return fold(numbers, present, settings, shape, kind);

    std::vector<int> places;
    places.reserve(present.size());
    for (const Value& value : present) places.push_back(place_of(value));
    const auto& rule = Lowering<CodeAlgebra>::table().at(operation).rule;
    return {nullptr, kind, shape, rule(code_, places, settings)};
  }

  static Value fold(const Lowering<NumberAlgebra>::Entry& entry,
                    const std::vector<Value>& operands, const ElementSettings& settings,
                    const Shape& shape, Kind kind) {
    Constant result{kind, shape, {}};
    const std::int64_t count = volume(shape);
    NumberAlgebra algebra;
    for (std::int64_t i = 0; i < count; ++i) {
      std::vector<double> terms;
      // At most one axis is wide, so an operand has this many numbers or one.
      for (const Value& operand : operands) {
        const std::vector<double>& numbers = operand.constant->numbers;
        terms.push_back(numbers.size() == 1 ? numbers[0]
                                            : numbers[static_cast<std::size_t>(i)]);
      }
      result.numbers.push_back(entry.rule(algebra, terms, settings));
    }
    return known(std::move(result));
  }

  /// The instruction that gives a value at a score's place.
  int place_of(const Value& value) {
    if (!value.constant) return value.place;
    const Constant& constant = *value.constant;
    if (constant.numbers.size() == 1) return code_.constant(constant.numbers[0]);
    const Grid shape = on_grid(constant.shape);
    if (const std::optional<int> ramp = ramp_of(constant.numbers, shape)) return *ramp;
    if (modifier_.tables.size() == kMaxTables)
      fail<FileError>("the graph reads more than ", kMaxTables, " tables");
    std::vector<float>& numbers = modifier_.values.emplace_back();
    for (const double x : constant.numbers) numbers.push_back(static_cast<float>(x));
    numbers.push_back(0.0f);  // an address for an empty table
    const auto slot = static_cast<int>(modifier_.tables.size());
    modifier_.tables.push_back(table(numbers.data(), shape));
    return code_.emit(shape[3] == 1 ? Operation::table_value : Operation::table_along, slot);
  }

  /// A shape lined up at the right of [batch, heads, queries, keys].
  Grid on_grid(const Shape& shape) const {
    Grid result{1, 1, 1, 1};
    bool fits = shape.size() <= 4;
    for (std::size_t axis = 0; fits && axis < shape.size(); ++axis) {
      const std::size_t to = 4 - shape.size() + axis;
      result[to] = shape[axis];
      fits = result[to] == 1 || result[to] == grid_[to];
    }
    if (!fits)
      fail<FileError>("a value of shape ", files::shape_text(shape), " does not fit scores ",
                      files::shape_text(grid_));
    return result;
  }

  /// Numbers that rise evenly along one axis are its index, scaled and moved.
  std::optional<int> ramp_of(const std::vector<double>& numbers, const Grid& shape) {
    constexpr std::array<Operation, 4> kIndices{Operation::batch, Operation::head,
                                                Operation::query, Operation::key};
    const auto wide = std::find_if(shape.begin(), shape.end(), [](auto n) { return n != 1; });
    if (wide == shape.end() || numbers.size() != static_cast<std::size_t>(*wide) ||
        numbers.size() < 2)
      return std::nullopt;
    const double step = numbers[1] - numbers[0];
    for (std::size_t i = 1; i < numbers.size(); ++i)
      if (numbers[i] != numbers[0] + step * static_cast<double>(i)) return std::nullopt;
    int place = code_.emit(kIndices[static_cast<std::size_t>(wide - shape.begin())]);
    if (step != 1.0) place = code_.multiply(place, code_.constant(step));
    if (numbers[0] != 0.0) place = code_.add(place, code_.constant(numbers[0]));
    return place;
  }

  /// The result must be the last instruction: adding 0 to it changes nothing.
  void finish(int place) {
    if (place + 1 == modifier_.program.count) return;
    modifier_.program.count = static_cast<std::uint8_t>(place + 1);
  }

  Grid grid_;
  Modifier modifier_;
  CodeAlgebra code_;
  std::map<std::string, Value> values_;
};

}  // namespace

void Modifier::place(Memory& memory) {
  for (std::size_t i = 0; i < tables.size(); ++i) tables[i].data = memory.keep(values[i]);
}

AnyScore Modifier::score() const {
  AnyScore stage = score_stage(program);
  for (const Table& one : tables)
    stage.data.tables[static_cast<std::size_t>(stage.data.slots++)] = one;
  return stage;
}

AnyWeight Modifier::weight() const {
  AnyWeight stage = weight_stage(program);
  for (const Table& one : tables)
    stage.stage.data.tables[static_cast<std::size_t>(stage.stage.data.slots++)] = one;
  return stage;
}

Modifier compile_modifier(const json& graph, const Grid& grid, const std::string& where) {
  try {
    return Compiler(grid).compile(graph);
  } catch (const Error& error) {
    fail<FileError>(where, ": ", error.what());
  }
}

}  // namespace attn::conformance
