#include "gemm/conv_onednn.hpp"

#include <oneapi/dnnl/dnnl_types.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/core/thread_pool.hpp"
#include "attn/gemm/conv.hpp"
#include "gemm/conv_plain.hpp"
#include "gemm/conv_plan.hpp"
#include "gemm/one_thread.hpp"

namespace attn::gemm::onednn {
namespace {

using dnnl::memory;
using plain::Planes;

/// How the batch is cut: by shape alone, into pieces of about the same size.
struct Cut {
  std::int64_t images;  ///< of a piece; the last may have fewer
  std::int64_t pieces;
};
Cut cut(const ConvShape& shape, std::int64_t least_images, std::int64_t most_pieces) {
  // Worth a task: about a tenth of a millisecond of one core.
  constexpr std::int64_t kMultiplies = 1 << 22;
  const std::array<std::int64_t, 2> y = shape.out_size();
  const std::int64_t each =
      shape.in * shape.out * y[0] * y[1] * shape.kernel[0] * shape.kernel[1];
  const std::int64_t images = std::max(
      {least_images, kMultiplies / each, (shape.batch + most_pieces - 1) / most_pieces});
  const std::int64_t pieces = (shape.batch + images - 1) / images;
  const std::int64_t level = (shape.batch + pieces - 1) / pieces;
  return {level, (shape.batch + level - 1) / level};
}

/// Calls run(piece, first image, images), in parallel; what oneDNN throws is thrown again here.
template <class Run>
void each_piece(const ConvShape& shape, const Cut& pieces, const char* where, const Run& run) {
  std::vector<std::string> errors(static_cast<std::size_t>(pieces.pieces));
  ThreadPool::shared().parallel_for(
      static_cast<int>(pieces.pieces), ThreadPool::default_threads(), [&](int piece) {
        const OneThread alone;
        const std::int64_t first = piece * pieces.images;
        try {
          run(piece, first, std::min(pieces.images, shape.batch - first));
        } catch (const std::exception& error) {
          errors[static_cast<std::size_t>(piece)] = error.what();
        }
      });
  for (const std::string& error : errors)
    if (!error.empty()) fail<Error>(where, ": oneDNN: ", error);
}

/// The plans of a whole piece and of the last one, with the weights in their layouts.
class Plans {
 public:
  using Make = ConvPlan (*)(const ConvShape& shape, std::int64_t images);

  /// `weight` null: it is what is computed.
  Plans(const ConvShape& shape, const Cut& pieces, Make make, const float* weight,
        const char* where) {
    const OneThread alone;
    try {
      add(shape, pieces.images, make, weight);
      const std::int64_t rest = shape.batch % pieces.images;
      if (rest > 0) add(shape, rest, make, weight);
    } catch (const std::exception& error) {
      fail<Error>(where, ": oneDNN: ", error.what());
    }
  }

  struct Plan {
    std::int64_t images;
    ConvPlan conv;
    ConvLayouts plain;
    memory weight;
  };
  const Plan& of(std::int64_t images) const {
    return plans_[plans_.size() > 1 && images == plans_[1].images ? 1 : 0];
  }

 private:
  void add(const ConvShape& shape, std::int64_t images, Make make, const float* weight) {
    Plan plan{images, make(shape, images), ConvLayouts(shape, images), {}};
    dnnl::stream stream(conv_engine());
    if (weight != nullptr)
      plan.weight = arranged(over(plan.plain.weight, weight), plan.conv.weight, stream);
    stream.wait();
    plans_.push_back(plan);
  }

  std::vector<Plan> plans_;
};

/// Adds up what each piece of the batch gives, in order.
void sum_pieces(const std::vector<float>& parts, std::int64_t count, float* to) {
  std::copy_n(parts.data(), count, to);
  const auto all = static_cast<std::int64_t>(parts.size());
  for (std::int64_t first = count; first < all; first += count)
    for (std::int64_t i = 0; i < count; ++i)
      to[i] += parts[static_cast<std::size_t>(first + i)];
}

}  // namespace

void conv_forward(const ConvShape& shape, const float* x, const float* weight,
                  const float* bias, float* y) {
  constexpr const char* kWhere = "attn::gemm::conv_forward";
  const Cut pieces = cut(shape, 1, 64);
  const Plans plans(shape, pieces, plan_forward, weight, kWhere);
  std::vector<float> zeros(bias == nullptr ? static_cast<std::size_t>(shape.out) : 0);
  const float* added = bias == nullptr ? zeros.data() : bias;
  const Planes planes(shape);
  each_piece(shape, pieces, kWhere, [&](int, std::int64_t first, std::int64_t images) {
    const Plans::Plan& plan = plans.of(images);
    dnnl::stream stream(conv_engine());
    ConvResult result(plan.conv.y, plan.plain.y, y + first * shape.out * planes.y);
    plan.conv.primitive.execute(
        stream, {{DNNL_ARG_SRC, arranged(over(plan.plain.x, x + first * shape.in * planes.x),
                                         plan.conv.x, stream)},
                 {DNNL_ARG_WEIGHTS, plan.weight},
                 {DNNL_ARG_BIAS, over(plan.plain.bias, added)},
                 {DNNL_ARG_DST, result.computed()},
                 {DNNL_ARG_SCRATCHPAD, memory(plan.conv.scratchpad, conv_engine())}});
    result.finish(stream);
    stream.wait();
  });
}

void conv_backward_data(const ConvShape& shape, const float* grad, const float* weight,
                        float* dx) {
  constexpr const char* kWhere = "attn::gemm::conv_backward_data";
  const Cut pieces = cut(shape, 1, 64);
  const Plans plans(shape, pieces, plan_backward_data, weight, kWhere);
  const Planes planes(shape);
  each_piece(shape, pieces, kWhere, [&](int, std::int64_t first, std::int64_t images) {
    const Plans::Plan& plan = plans.of(images);
    dnnl::stream stream(conv_engine());
    ConvResult result(plan.conv.x, plan.plain.x, dx + first * shape.in * planes.x);
    plan.conv.primitive.execute(
        stream,
        {{DNNL_ARG_DIFF_DST, arranged(over(plan.plain.y, grad + first * shape.out * planes.y),
                                      plan.conv.y, stream)},
         {DNNL_ARG_WEIGHTS, plan.weight},
         {DNNL_ARG_DIFF_SRC, result.computed()},
         {DNNL_ARG_SCRATCHPAD, memory(plan.conv.scratchpad, conv_engine())}});
    result.finish(stream);
    stream.wait();
  });
}

void conv_backward_weights(const ConvShape& shape, const float* x, const float* grad,
                           float* d_weight, float* d_bias) {
  constexpr const char* kWhere = "attn::gemm::conv_backward_weights";
  // Each piece has weights of its own to write and to add: a few hundred products for each of
  // them keep that cheap.
  const std::array<std::int64_t, 2> y = shape.out_size();
  const Cut pieces = cut(shape, (256 + y[0] * y[1] - 1) / (y[0] * y[1]), 16);
  const Plans plans(shape, pieces, plan_backward_weights, nullptr, kWhere);
  const Planes planes(shape);
  const std::int64_t weights = shape.out * shape.in * planes.kernel;
  std::vector<float> weight_parts(static_cast<std::size_t>(pieces.pieces * weights));
  std::vector<float> bias_parts(static_cast<std::size_t>(pieces.pieces * shape.out));
  each_piece(shape, pieces, kWhere, [&](int piece, std::int64_t first, std::int64_t images) {
    const Plans::Plan& plan = plans.of(images);
    dnnl::stream stream(conv_engine());
    ConvResult result(plan.conv.weight, plan.plain.weight,
                      weight_parts.data() + piece * weights);
    plan.conv.primitive.execute(
        stream,
        {{DNNL_ARG_SRC,
          arranged(over(plan.plain.x, x + first * shape.in * planes.x), plan.conv.x, stream)},
         {DNNL_ARG_DIFF_DST, arranged(over(plan.plain.y, grad + first * shape.out * planes.y),
                                      plan.conv.y, stream)},
         {DNNL_ARG_DIFF_WEIGHTS, result.computed()},
         {DNNL_ARG_DIFF_BIAS, over(plan.plain.bias, bias_parts.data() + piece * shape.out)},
         {DNNL_ARG_SCRATCHPAD, memory(plan.conv.scratchpad, conv_engine())}});
    result.finish(stream);
    stream.wait();
  });
  sum_pieces(weight_parts, weights, d_weight);
  if (d_bias != nullptr) sum_pieces(bias_parts, shape.out, d_bias);
}

}  // namespace attn::gemm::onednn
