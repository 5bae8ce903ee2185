// ONNX RotaryEmbedding, version 23.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/core/view.hpp"
#include "attn/files/array.hpp"
#include "attn/kernels/gpu/linear.hpp"
#include "attn/kernels/rotary.hpp"
#include "attn/tensor/gpu.hpp"
#include "tools/conformance/array.hpp"
#include "tools/conformance/memory.hpp"
#include "tools/conformance/operators.hpp"

namespace attn::conformance {
namespace {

struct Settings {
  RotaryPairs pairs = RotaryPairs::halves;
  std::int64_t channels = 0;  ///< that are turned; 0 for all
  std::optional<std::int64_t> heads;
};

Settings settings_of(const Call& call) {
  Attributes attributes(call.node.attributes);
  Settings settings;
  const std::int64_t interleaved = attributes.whole("interleaved").value_or(0);
  if (interleaved != 0 && interleaved != 1)
    fail<FileError>("attribute interleaved: ", interleaved, "; accepted: 0, 1");
  if (interleaved == 1) settings.pairs = RotaryPairs::interleaved;
  settings.channels = attributes.whole("rotary_embedding_dim").value_or(0);
  settings.heads = attributes.whole("num_heads");
  if (settings.heads == 0) settings.heads.reset();
  attributes.check_all_known();
  return settings;
}

/// cos or sin as [batch, positions, pairs], or [1, rows, pairs] when positions pick the rows.
template <class T>
View<const T, 3> cache_view(Memory& memory, const Array& cache, std::size_t rank,
                            const char* name) {
  if (cache.shape.size() != rank)
    fail<FileError>(name, " has rank ", cache.shape.size(), "; expected ", rank,
                    rank == 2 ? " with position_ids" : " without position_ids");
  const auto* data = memory.read<T>(cache);
  if (rank == 2) return packed<const T>(data, 1, cache.shape[0], cache.shape[1]);
  return packed<const T>(data, cache.shape[0], cache.shape[1], cache.shape[2]);
}

}  // namespace

Results rotary_embedding(const Call& call) {
  call.check_counts(4, 1);
  const Settings settings = settings_of(call);
  const Array& input = call.input(0, "X");
  const auto shape = shape4_of(input, settings.heads, "X");
  const std::int64_t turned = settings.channels == 0 ? shape[3] : settings.channels;
  if (turned < 0 || turned > shape[3] || turned % 2 != 0)
    fail<FileError>("rotary_embedding_dim is ", turned, " of ", shape[3],
                    " channels; expected an even number of them");

  // A device has one implementation; its paths differ in the type it works in.
  const Array& cos = call.input(1, "cos_cache");
  const Array& sin = call.input(2, "sin_cache");
  const DType dtype = compute_dtype(call.path, {input.dtype, cos.dtype, sin.dtype});
  const Array x = cast(input, dtype);
  const Array cosines = cast(cos, dtype);
  const Array sines = cast(sin, dtype);
  std::vector<std::int64_t> rows;
  const Array* positions = call.optional_input(3);
  if (positions != nullptr) {
    if (positions->shape != Shape{shape[0], shape[2]})
      fail<FileError>("position_ids ", files::shape_text(positions->shape), "; expected [",
                      shape[0], ", ", shape[2], "]");
    rows = to_ints(*positions, "position_ids");
  }
  Array out = make_array(dtype, input.shape);
  with_float_type(dtype, [&](auto zero) {
    using T = decltype(zero);
    const std::size_t rank = positions != nullptr ? 2 : 3;
    const auto args_in = [&](Memory& memory) {
      RotaryArgs<T> args{.x = view4(memory.read<T>(x), shape, x.shape.size()),
                         .cos = cache_view<T>(memory, cosines, rank, "cos_cache"),
                         .sin = cache_view<T>(memory, sines, rank, "sin_cache"),
                         .out = view4(memory.write<T>(out), shape, x.shape.size()),
                         .pairs = settings.pairs};
      if (args.cos.shape[2] != turned / 2)
        fail<FileError>("cos_cache has ", args.cos.shape[2], " pairs; expected ", turned / 2);
      if (positions != nullptr)
        args.rows = packed<const std::int64_t>(memory.keep(rows), shape[0], shape[2]);
      return args;
    };
    Memory here({Path::Kind::reference, {}});
    const RotaryArgs<T> args = args_in(here);
    if (!call.path.is_gpu()) return rotate(args);
    validate(args);  // the positions are looked at where they are
    Memory memory(call.path);
    gpu::rotate(args_in(memory), gpu::stream());
    memory.finish();
  });
  Results results;
  results.push_back(cast(out, input.dtype));
  return results;
}

}  // namespace attn::conformance
