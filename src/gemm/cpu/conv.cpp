#include "gemm/cpu/conv.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "attn/core/arena.hpp"
#include "attn/core/thread_pool.hpp"
#include "attn/gemm/conv.hpp"
#include "attn/kernels/target.hpp"
#include "gemm/cpu/product_table.hpp"
#include "gemm/cpu/unfold.hpp"
#include "kernels/cpu/scratch.hpp"
#include "kernels/cpu/team_scratch.hpp"

namespace attn::gemm {
namespace {

using cpu::BlockProduct;
using cpu::ProductTable;
using cpu::Scratch;

/// Places that are unfolded at once: what they see stays in L2.
constexpr std::int64_t kMostPlaces = 256;
/// Multiply-adds that are worth a task.
constexpr std::int64_t kTaskWork = std::int64_t{1} << 20;

std::int64_t in_parts(std::int64_t size, std::int64_t part) {
  return (size + part - 1) / part;
}

/// Sizes that all three directions share.
struct Sizes {
  explicit Sizes(const ConvShape& shape)
      : walk(shape),
        depth(walk.depth()),
        places(walk.places()),
        stretch(std::min(kMostPlaces, places)),
        x_image(shape.in * shape.size[0] * shape.size[1]),
        y_image(shape.out * places),
        task_images(std::clamp<std::int64_t>(kTaskWork / (shape.out * depth * places), 1,
                                             shape.batch)) {}

  /// Calls run(places) for the whole of an image.
  template <class Run>
  void each_stretch(const Run& run) const {
    for (std::int64_t begin = 0; begin < places; begin += stretch)
      run(Places{begin, std::min(stretch, places - begin)});
  }

  Unfolding walk;
  std::int64_t depth;
  std::int64_t places;
  std::int64_t stretch;  ///< places at once
  std::int64_t x_image;
  std::int64_t y_image;
  std::int64_t task_images;  ///< that are worth a task
};

/// Some images of the batch, and what the thread that has them works in.
struct Piece {
  std::int64_t number = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::byte* memory = nullptr;
};

/// Pieces of a batch, in parallel.
class Pieces {
 public:
  /// Pieces of so many images, each with so many bytes; `shared` numbers are for all.
  Pieces(std::int64_t batch, std::int64_t images, std::size_t bytes, std::int64_t shared = 0)
      : batch_(batch),
        images_(images),
        workers_(static_cast<int>(
            std::min<std::int64_t>(ThreadPool::default_threads(), in_parts(batch, images)))),
        scratch_(bytes, workers_, Arena::room<float>(static_cast<std::size_t>(shared))) {}

  float* shared() const { return reinterpret_cast<float*>(scratch_.shared()); }

  template <class Run>
  void run(const Run& run) const {
    ThreadPool::shared().parallel_for(
        static_cast<int>(in_parts(batch_, images_)), workers_, [&](int number, int worker) {
          const std::int64_t begin = number * images_;
          run(Piece{number, begin, std::min(begin + images_, batch_), scratch_.of(worker)});
        });
  }

 private:
  std::int64_t batch_;
  std::int64_t images_;
  int workers_;
  cpu::TeamScratch scratch_;
};

}  // namespace

// y = W · what the kernel sees: [out, places] = [out, depth] [depth, places].
void conv_forward_on(Target target, const ConvShape& shape, const float* x, const float* weight,
                     const float* bias, float* y) {
  const ProductTable& table = cpu::product_table(target);
  const Sizes sizes(shape);
  const BlockProduct common{.rows = shape.out,
                            .columns = sizes.stretch,
                            .depth = sizes.depth,
                            .a = {weight, sizes.depth, 1},
                            .b = {nullptr, sizes.stretch, 1},
                            .c_stride = sizes.places,
                            .beta = bias == nullptr ? 0.0f : 1.0f};
  Scratch counted;
  counted.take<float>(sizes.depth * sizes.stretch);
  const Pieces pieces(shape.batch, sizes.task_images, counted.used + table.bytes(common));
  pieces.run([&](const Piece& piece) {
    Scratch scratch{piece.memory};
    float* seen = scratch.take<float>(sizes.depth * sizes.stretch);
    BlockProduct block = common;
    block.b.data = seen;
    for (std::int64_t image = piece.begin; image < piece.end; ++image) {
      float* to = y + image * sizes.y_image;
      for (std::int64_t o = 0; bias != nullptr && o < shape.out; ++o)
        std::fill_n(to + o * sizes.places, sizes.places, bias[o]);
      sizes.each_stretch([&](Places at) {
        sizes.walk.unfold(x + image * sizes.x_image, at, seen, sizes.stretch);
        block.columns = at.count;
        block.c = to + at.begin;
        table.product(block, piece.memory + scratch.used);
      });
    }
  });
}

// The gradient of what the kernel sees, [depth, places] = W^T [depth, out] · dy [out, places],
// is added to where it was seen.
void conv_backward_data_on(Target target, const ConvShape& shape, const float* grad,
                           const float* weight, float* dx) {
  const ProductTable& table = cpu::product_table(target);
  const Sizes sizes(shape);
  // Whole channels of x, about as many as stay in L2.
  constexpr std::int64_t kMostRows = 512;
  const std::int64_t taps = sizes.walk.taps();
  const std::int64_t rows = taps * std::clamp<std::int64_t>(kMostRows / taps, 1, shape.in);
  const BlockProduct common{.rows = rows,
                            .columns = sizes.stretch,
                            .depth = shape.out,
                            .a = {weight, 1, sizes.depth},
                            .b = {nullptr, sizes.places, 1},
                            .c_stride = sizes.stretch};
  Scratch counted;
  counted.take<float>(rows * sizes.stretch);
  const Pieces pieces(shape.batch, sizes.task_images, counted.used + table.bytes(common));
  pieces.run([&](const Piece& piece) {
    Scratch scratch{piece.memory};
    BlockProduct block = common;
    block.c = scratch.take<float>(rows * sizes.stretch);
    for (std::int64_t image = piece.begin; image < piece.end; ++image) {
      float* to = dx + image * sizes.x_image;
      std::fill_n(to, sizes.x_image, 0.0f);
      sizes.each_stretch([&](Places at) {
        block.b.data = grad + image * sizes.y_image + at.begin;
        block.columns = at.count;
        for (std::int64_t row = 0; row < sizes.depth; row += rows) {
          block.rows = std::min(rows, sizes.depth - row);
          block.a.data = weight + row;
          table.product(block, piece.memory + scratch.used);
          sizes.walk.fold(block.c, sizes.stretch, row, row + block.rows, at, to);
        }
      });
    }
  });
}

// dW = dy · what the kernel sees, turned: [out, depth] = [out, places] [places, depth], summed
// over the images.
void conv_backward_weights_on(Target target, const ConvShape& shape, const float* x,
                              const float* grad, float* d_weight, float* d_bias) {
  const ProductTable& table = cpu::product_table(target);
  const Sizes sizes(shape);
  // Small images go together: a product of few places is mostly the sums it is added to.
  const std::int64_t together =
      std::clamp<std::int64_t>(kMostPlaces / sizes.stretch, 1, shape.batch);
  const std::int64_t width = together * sizes.stretch;
  const BlockProduct common{.rows = shape.out,
                            .columns = sizes.depth,
                            .depth = width,
                            .a = {nullptr, width, 1},
                            .b = {nullptr, 1, width},
                            .c_stride = sizes.depth,
                            .beta = 1.0f};
  // By shape alone, into few pieces, since each has weights of its own to add up.
  constexpr std::int64_t kMostPieces = 16;
  const std::int64_t images =
      in_parts(std::max(in_parts(shape.batch, kMostPieces), sizes.task_images), together) *
      together;
  const std::int64_t weights = shape.out * sizes.depth;
  const std::int64_t part = weights + shape.out;
  Scratch counted;
  counted.take<float>(sizes.depth * width);
  counted.take<float>(shape.out * width);
  const std::int64_t count = in_parts(shape.batch, images);
  const Pieces pieces(shape.batch, images, counted.used + table.bytes(common), count * part);
  pieces.run([&](const Piece& piece) {
    Scratch scratch{piece.memory};
    float* seen = scratch.take<float>(sizes.depth * width);
    float* grads = scratch.take<float>(shape.out * width);
    BlockProduct block = common;
    block.a.data = grads;
    block.b.data = seen;
    block.c = pieces.shared() + piece.number * part;
    float* bias = block.c + weights;
    std::fill_n(block.c, part, 0.0f);
    for (std::int64_t image = piece.begin; image < piece.end; image += together) {
      const std::int64_t some = std::min(together, piece.end - image);
      sizes.each_stretch([&](Places at) {
        for (std::int64_t i = 0; i < some; ++i) {
          sizes.walk.unfold(x + (image + i) * sizes.x_image, at, seen + i * at.count, width);
          const float* from = grad + (image + i) * sizes.y_image + at.begin;
          for (std::int64_t o = 0; o < shape.out; ++o, from += sizes.places) {
            std::copy_n(from, at.count, grads + o * width + i * at.count);
            float sum = 0.0f;
            for (std::int64_t j = 0; j < at.count; ++j) sum += from[j];
            bias[o] += sum;
          }
        }
        block.depth = some * at.count;
        table.product(block, piece.memory + scratch.used);
      });
    }
  });
  const auto add_up = [&](const float* from, std::int64_t size, float* to) {
    std::copy_n(from, size, to);
    for (std::int64_t piece = 1; piece < count; ++piece)
      for (std::int64_t i = 0; i < size; ++i) to[i] += from[piece * part + i];
  };
  add_up(pieces.shared(), weights, d_weight);
  if (d_bias != nullptr) add_up(pieces.shared() + weights, shape.out, d_bias);
}

}  // namespace attn::gemm
