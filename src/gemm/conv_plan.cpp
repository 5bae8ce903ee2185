#include "gemm/conv_plan.hpp"

#include <array>
#include <cstdint>
#include <oneapi/dnnl/dnnl.hpp>

#include "attn/gemm/conv.hpp"

namespace attn::gemm {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;

memory::dims dims(const std::array<std::int64_t, 2>& extents) {
  return {extents[0], extents[1]};
}
memory::desc layout(const memory::dims& extents, Tag tag) {
  return {extents, memory::data_type::f32, tag};
}

/// What the descriptors of all three directions are made from.
struct Pieces {
  Pieces(const ConvShape& shape, std::int64_t images)
      : plain(shape, images),
        x(layout(plain.x.dims(), Tag::any)),
        weight(layout(plain.weight.dims(), Tag::any)),
        y(layout(plain.y.dims(), Tag::any)),
        stride(dims(shape.stride)),
        // oneDNN counts the places left out between two taps.
        dilation{shape.dilation[0] - 1, shape.dilation[1] - 1},
        before(dims(shape.pad_before)),
        after(dims(shape.pad_after)) {
    // Its own scratch memory would belong to the thread that made the primitive.
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  }

  dnnl::convolution_forward::primitive_desc forward() const {
    return {{dnnl::prop_kind::forward_training, dnnl::algorithm::convolution_direct, x, weight,
             plain.bias, y, stride, dilation, before, after},
            attributes,
            conv_engine()};
  }

  ConvLayouts plain;
  memory::desc x;
  memory::desc weight;
  memory::desc y;
  memory::dims stride;
  memory::dims dilation;
  memory::dims before;
  memory::dims after;
  dnnl::primitive_attr attributes;
};

}  // namespace

dnnl::engine& conv_engine() {
  static dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

ConvLayouts::ConvLayouts(const ConvShape& shape, std::int64_t images)
    : x(layout({images, shape.in, shape.size[0], shape.size[1]}, Tag::nchw)),
      weight(layout({shape.out, shape.in, shape.kernel[0], shape.kernel[1]}, Tag::oihw)),
      y(layout({images, shape.out, shape.out_size()[0], shape.out_size()[1]}, Tag::nchw)),
      bias(layout({shape.out}, Tag::x)) {}

ConvPlan plan_forward(const ConvShape& shape, std::int64_t images) {
  const auto found = Pieces(shape, images).forward();
  return {dnnl::convolution_forward(found), found.src_desc(), found.weights_desc(),
          found.dst_desc(), found.scratchpad_desc()};
}

ConvPlan plan_backward_data(const ConvShape& shape, std::int64_t images) {
  const Pieces p(shape, images);
  const dnnl::convolution_backward_data::primitive_desc found(
      {dnnl::algorithm::convolution_direct, p.x, p.weight, p.y, p.stride, p.dilation, p.before,
       p.after},
      p.attributes, conv_engine(), p.forward());
  return {dnnl::convolution_backward_data(found), found.diff_src_desc(), found.weights_desc(),
          found.diff_dst_desc(), found.scratchpad_desc()};
}

ConvPlan plan_backward_weights(const ConvShape& shape, std::int64_t images) {
  const Pieces p(shape, images);
  const dnnl::convolution_backward_weights::primitive_desc found(
      {dnnl::algorithm::convolution_direct, p.x, p.weight, p.plain.bias, p.y, p.stride,
       p.dilation, p.before, p.after},
      p.attributes, conv_engine(), p.forward());
  return {dnnl::convolution_backward_weights(found), found.src_desc(),
          found.diff_weights_desc(), found.diff_dst_desc(), found.scratchpad_desc()};
}

memory over(const memory::desc& plain, const float* data) {
  return {plain, conv_engine(), const_cast<float*>(data)};
}

memory arranged(memory from, const memory::desc& wanted, dnnl::stream& stream) {
  if (from.get_desc() == wanted) return from;
  memory to(wanted, conv_engine());
  dnnl::reorder(from, to).execute(stream, from, to);
  return to;
}

ConvResult::ConvResult(const memory::desc& wanted, const memory::desc& plain, float* to)
    : to_(over(plain, to)), computed_(wanted == plain ? to_ : memory(wanted, conv_engine())) {}

void ConvResult::finish(dnnl::stream& stream) {
  if (computed_.get_data_handle() == to_.get_data_handle()) return;
  dnnl::reorder(computed_, to_).execute(stream, computed_, to_);
}

}  // namespace attn::gemm
