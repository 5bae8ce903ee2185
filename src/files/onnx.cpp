// SPDX-License-Identifier: Apache-2.0

#include "attn/files/onnx.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/files/array.hpp"
#include "attn/files/printable.hpp"
#include "attn/files/read_file.hpp"
#include "files/protobuf.hpp"

namespace attn::files {
namespace {

using Wire = ProtobufReader::Wire;

/// The numbers of fields, from onnx.proto.
enum ModelField : std::uint8_t { model_graph = 7 };
enum GraphField : std::uint8_t { graph_node = 1, graph_initialiser = 5 };
enum NodeField : std::uint8_t {
  node_input = 1,
  node_output = 2,
  node_name = 3,
  node_op = 4,
  node_attribute = 5
};
enum AttributeField : std::uint8_t {
  attribute_name = 1,
  attribute_real = 2,
  attribute_integer = 3,
  attribute_graph = 6,
  attribute_integers = 8,
  attribute_graphs = 11
};
enum TensorField : std::uint8_t {
  tensor_dims = 1,
  tensor_type = 2,
  tensor_segment = 3,
  tensor_floats = 4,
  tensor_int32s = 5,
  tensor_int64s = 7,
  tensor_name = 8,
  tensor_raw = 9,
  tensor_external = 13,
  tensor_location = 14
};

/// No graph that is known nests deeper than three.
constexpr int kDeepest = 8;

std::optional<DType> dtype_of(std::int64_t type) {
  switch (type) {
    case 1:
      return DType::f32;
    case 2:
      return DType::u8;
    case 3:
      return DType::i8;
    case 5:
      return DType::i16;
    case 6:
      return DType::i32;
    case 7:
      return DType::i64;
    case 9:
      return DType::boolean;
    case 10:
      return DType::f16;
    case 11:
      return DType::f64;
    case 16:
      return DType::bf16;
    default:
      return std::nullopt;
  }
}

/// Whether numbers of this type may stand in int32_data.
bool fits_int32_data(DType dtype) {
  return dtype == DType::i32 || dtype == DType::i16 || dtype == DType::i8 ||
         dtype == DType::u8 || dtype == DType::boolean;
}

template <class T>
void put(std::byte* to, std::int64_t value) {
  const T narrow = static_cast<T>(value);
  std::memcpy(to, &narrow, sizeof narrow);
}

/// Whether it was within the type.
bool put_integer(DType dtype, std::byte* to, std::int64_t value) {
  const auto within = [&](std::int64_t least, std::int64_t most) {
    return value >= least && value <= most;
  };
  switch (dtype) {
    case DType::u8:
      put<std::uint8_t>(to, value);
      return within(0, std::numeric_limits<std::uint8_t>::max());
    case DType::boolean:
      put<std::uint8_t>(to, value);
      return within(0, 1);
    case DType::i8:
      put<std::int8_t>(to, value);
      return within(std::numeric_limits<std::int8_t>::min(),
                    std::numeric_limits<std::int8_t>::max());
    case DType::i16:
      put<std::int16_t>(to, value);
      return within(std::numeric_limits<std::int16_t>::min(),
                    std::numeric_limits<std::int16_t>::max());
    case DType::i32:
      put<std::int32_t>(to, value);
      return within(std::numeric_limits<std::int32_t>::min(),
                    std::numeric_limits<std::int32_t>::max());
    default:
      put<std::int64_t>(to, value);
      return true;
  }
}

/// A tensor as it is gathered from its fields, which come in any order.
struct Gathered {
  std::string name{};
  std::vector<std::int64_t> shape{};
  std::int64_t type = 0;
  std::optional<std::span<const std::byte>> raw{};
  std::vector<float> floats{};
  std::vector<ProtobufReader> integers{};  ///< packed, of int32_data or int64_data
  std::vector<std::int64_t> alone{};       ///< the same, not packed
  std::uint64_t integers_field = 0;
  std::uint64_t place = 0;
};

std::uint64_t count_of_integers(const Gathered& tensor) {
  std::uint64_t count = tensor.alone.size();
  for (ProtobufReader packed : tensor.integers)
    for (; !packed.at_end(); ++count) packed.packed_varint();
  return count;
}

}  // namespace

/// Reads a graph into an OnnxGraph.
class OnnxGraph::Reader {
 public:
  explicit Reader(OnnxGraph& into) : into_(into) {}

  void read_graph(ProtobufReader graph, int depth) {
    if (depth > kDeepest)
      fail<FileError>(into_.where_, ": byte ", graph.place(), ": graphs within graphs, more ",
                      "than ", kDeepest, " deep");
    while (graph.next()) {
      if (graph.number() == graph_node) read_node(graph.message("a node"), depth);
      if (graph.number() == graph_initialiser) read_tensor(graph.message("an initialiser"));
    }
  }

 private:
  void read_node(ProtobufReader message, int depth) {
    OnnxNode node;
    std::vector<ProtobufReader> graphs;
    while (message.next()) {
      switch (message.number()) {
        case node_input:
          node.inputs.push_back(message.text("an input"));
          break;
        case node_output:
          node.outputs.push_back(message.text("an output"));
          break;
        case node_name:
          node.name = message.text("the name of a node");
          break;
        case node_op:
          node.op = message.text("the op of a node");
          break;
        case node_attribute:
          read_attribute(message.message("an attribute"), node, graphs);
          break;
        default:
          break;
      }
    }
    const std::size_t index = into_.nodes_.size();
    if (!node.name.empty()) into_.by_name_.emplace(node.name, index);
    for (const std::string& output : node.outputs) into_.by_output_.emplace(output, index);
    into_.nodes_.push_back(std::move(node));
    for (const ProtobufReader& graph : graphs) read_graph(graph, depth + 1);
  }

  static void read_attribute(ProtobufReader message, OnnxNode& node,
                             std::vector<ProtobufReader>& graphs) {
    std::string name;
    std::vector<std::int64_t> integers;
    std::optional<float> real;
    while (message.next()) {
      switch (message.number()) {
        case attribute_name:
          name = message.text("the name of an attribute");
          break;
        case attribute_real:
          real = message.real("a real attribute");
          break;
        case attribute_integer:
          integers.push_back(message.integer("a whole attribute"));
          break;
        case attribute_integers:
          read_integers(message, "an attribute of whole numbers", integers);
          break;
        case attribute_graph:
        case attribute_graphs:
          graphs.push_back(message.message("a graph"));
          break;
        default:
          break;
      }
    }
    if (!integers.empty()) node.integers[name] = std::move(integers);
    if (real) node.reals[name] = *real;
  }

  /// One of a repeated field: alone, or many packed in bytes.
  static void read_integers(const ProtobufReader& field, std::string_view what,
                            std::vector<std::int64_t>& into) {
    if (field.wire() == Wire::varint) {
      into.push_back(field.integer(what));
      return;
    }
    for (ProtobufReader packed = field.message(what); !packed.at_end();)
      into.push_back(static_cast<std::int64_t>(packed.packed_varint()));
  }

  static void read_floats(const ProtobufReader& field, std::vector<float>& into) {
    if (field.wire() == Wire::fixed32) {
      into.push_back(field.real("float_data"));
      return;
    }
    const auto bytes = field.bytes("float_data");
    if (bytes.size() % sizeof(float) != 0)
      fail<FileError>(field.where(), ": byte ", field.place(), ": float_data has ",
                      bytes.size(), " bytes; a multiple of 4 is accepted");
    const std::vector<float> more = copy_as<float>(bytes);
    into.insert(into.end(), more.begin(), more.end());
  }

  void read_tensor(ProtobufReader message) {
    Gathered tensor;
    tensor.place = message.place();
    while (message.next()) {
      switch (message.number()) {
        case tensor_dims:
          read_integers(message, "a shape", tensor.shape);
          break;
        case tensor_type:
          tensor.type = message.integer("the type of an array");
          break;
        case tensor_name:
          tensor.name = message.text("the name of an array");
          break;
        case tensor_raw:
          tensor.raw = message.bytes("raw_data");
          break;
        case tensor_floats:
          read_floats(message, tensor.floats);
          break;
        case tensor_int32s:
        case tensor_int64s:
          tensor.integers_field = message.number();
          if (message.wire() == Wire::varint) {
            tensor.alone.push_back(message.integer("a whole number"));
          } else {
            tensor.integers.push_back(message.message("whole numbers"));
          }
          break;
        case tensor_external:
          refuse(tensor, "its numbers lie in another file; one file is read");
        case tensor_location:
          if (message.integer("data_location") != 0)
            refuse(tensor, "its numbers lie in another file; one file is read");
          break;
        case tensor_segment:
          refuse(tensor, "it is a segment; whole arrays are read");
        default:
          break;
      }
    }
    store(tensor);
  }

  [[noreturn]] void refuse(const Gathered& tensor, const std::string& why) const {
    fail<FileError>(into_.where_, ": byte ", tensor.place, ": the array ",
                    in_quotes(tensor.name, 200), ": ", why);
  }

  void store(const Gathered& tensor) {
    const auto dtype = dtype_of(tensor.type);
    if (!dtype)
      refuse(tensor, "its type is " + std::to_string(tensor.type) +
                         "; 1 (float), 2, 3, 5, 6, 7 (whole), 9, 10, 11 and 16 are read");
    const auto bytes =
        tensor.shape.size() <= kMaxRank ? byte_count(tensor.shape, *dtype) : std::nullopt;
    if (!bytes) refuse(tensor, "its shape " + shape_text(tensor.shape) + " is none");
    ArrayView array{tensor.name, *dtype, tensor.shape, {}};
    array.bytes = tensor.raw ? *tensor.raw : unpacked(tensor, *dtype, *bytes);
    if (array.bytes.size() != *bytes)
      refuse(tensor, std::to_string(array.bytes.size()) + " bytes are there; " +
                         shape_text(tensor.shape) + " of this type has " +
                         std::to_string(*bytes));
    if (!into_.arrays_.emplace(tensor.name, std::move(array)).second)
      refuse(tensor, "it is there a second time");
  }

  /// Of numbers that are no plain bytes. What the shape asks for is compared with what is there
  /// before memory is taken.
  std::span<const std::byte> unpacked(const Gathered& tensor, DType dtype,
                                      std::uint64_t bytes) {
    const bool real = dtype == DType::f32;
    const std::uint64_t count = real ? tensor.floats.size() : count_of_integers(tensor);
    if (count > 0 && !real &&
        !(tensor.integers_field == tensor_int64s ? dtype == DType::i64
                                                 : fits_int32_data(dtype)))
      refuse(tensor, "its numbers are in a field that is not of its type");
    const std::uint64_t wanted = bytes / size_of(dtype);
    if (count != wanted)
      refuse(tensor, std::to_string(count) + " numbers are there; " + shape_text(tensor.shape) +
                         " has " + std::to_string(wanted));
    std::vector<std::byte>& to = into_.unpacked_.emplace_back(bytes);
    if (real) {
      if (count > 0) std::memcpy(to.data(), tensor.floats.data(), to.size());
      return to;
    }
    std::size_t at = 0;
    const auto add = [&](std::int64_t value) {
      if (!put_integer(dtype, to.data() + at, value))
        refuse(tensor, "the number " + std::to_string(value) + " is not of its type");
      at += size_of(dtype);
    };
    for (const std::int64_t value : tensor.alone) add(value);
    for (ProtobufReader packed : tensor.integers)
      while (!packed.at_end()) add(static_cast<std::int64_t>(packed.packed_varint()));
    return to;
  }

  OnnxGraph& into_;
};

OnnxGraph::OnnxGraph(Bytes content, std::string where)
    : where_(std::move(where)), content_(std::move(content)) {
  ProtobufReader model(std::as_const(content_).span(), where_);
  bool seen = false;
  while (model.next()) {
    if (model.number() != model_graph) continue;
    if (std::exchange(seen, true))
      fail<FileError>(where_, ": byte ", model.place(), ": a second graph; one is read");
    Reader(*this).read_graph(model.message("the graph"), 0);
  }
  if (!seen) fail<FileError>(where_, ": there is no graph in it; is this an ONNX file?");
}

OnnxGraph OnnxGraph::read(const std::filesystem::path& path, std::uint64_t max_bytes) {
  return {read_bytes(path, max_bytes), path_text(path)};
}

const OnnxNode* OnnxGraph::node(std::string_view name) const {
  const auto at = by_name_.find(std::string(name));
  return at == by_name_.end() ? nullptr : &nodes_[at->second];
}

const OnnxNode* OnnxGraph::maker_of(std::string_view output) const {
  const auto at = by_output_.find(std::string(output));
  return at == by_output_.end() ? nullptr : &nodes_[at->second];
}

const ArrayView* OnnxGraph::array(std::string_view name) const {
  const auto at = arrays_.find(std::string(name));
  return at == arrays_.end() ? nullptr : &at->second;
}

}  // namespace attn::files
