#include "attn/gemm/conv.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "attn/core/arena.hpp"
#include "attn/core/error.hpp"
#include "attn/core/thread_pool.hpp"
#include "attn/kernels/target.hpp"
#include "gemm/cpu/product_table.hpp"
#include "gemm/cpu/unfold_table.hpp"
#include "kernels/cpu/isa_table.hpp"
#include "kernels/cpu/scratch.hpp"
#include "kernels/cpu/team_scratch.hpp"

namespace attn::gemm {
namespace {

/// Convolutions as the formula reads, in plain loops: for double and for shapes without
/// numbers.
namespace plain {

/// One plane of x, one of y and one of the kernel.
struct Planes {
  explicit Planes(const ConvShape& from)
      : shape(from),
        y_size(from.out_size()),
        x(from.size[0] * from.size[1]),
        y(y_size[0] * y_size[1]),
        kernel(from.kernel[0] * from.kernel[1]) {}

  ConvShape shape;
  std::array<std::int64_t, 2> y_size;
  std::int64_t x;
  std::int64_t y;
  std::int64_t kernel;

  /// Calls run(place in x, place in y) for everything that one number of the kernel joins.
  template <class Run>
  void each_pair(std::int64_t tap, const Run& run) const {
    const auto row = [&](std::int64_t i) { return place(0, i, tap / shape.kernel[1]); };
    const auto column = [&](std::int64_t j) { return place(1, j, tap % shape.kernel[1]); };
    for (std::int64_t i = 0; i < y_size[0]; ++i) {
      if (row(i) < 0 || row(i) >= shape.size[0]) continue;
      for (std::int64_t j = 0; j < y_size[1]; ++j)
        if (column(j) >= 0 && column(j) < shape.size[1])
          run(row(i) * shape.size[1] + column(j), i * y_size[1] + j);
    }
  }

 private:
  std::int64_t place(std::size_t axis, std::int64_t i, std::int64_t tap) const {
    return i * shape.stride[axis] - shape.pad_before[axis] + tap * shape.dilation[axis];
  }
};

/// Calls run(i, j) for all i < rows, j < columns, in parallel.
template <class Run>
void each_pair(std::int64_t rows, std::int64_t columns, const Run& run) {
  ThreadPool::shared().parallel_for(static_cast<int>(rows * columns),
                                    ThreadPool::default_threads(),
                                    [&](int task) { run(task / columns, task % columns); });
}

template <class T>
void conv_forward(const ConvShape& shape, const T* x, const T* weight, const T* bias, T* y) {
  const Planes planes(shape);
  each_pair(shape.batch, shape.out, [&](std::int64_t b, std::int64_t o) {
    T* to = y + (b * shape.out + o) * planes.y;
    std::fill_n(to, planes.y, bias == nullptr ? T(0) : bias[o]);
    for (std::int64_t c = 0; c < shape.in; ++c) {
      const T* from = x + (b * shape.in + c) * planes.x;
      const T* w = weight + (o * shape.in + c) * planes.kernel;
      for (std::int64_t k = 0; k < planes.kernel; ++k)
        planes.each_pair(k, [&](std::int64_t i, std::int64_t j) { to[j] += w[k] * from[i]; });
    }
  });
}

template <class T>
void conv_backward_data(const ConvShape& shape, const T* grad, const T* weight, T* dx) {
  const Planes planes(shape);
  each_pair(shape.batch, shape.in, [&](std::int64_t b, std::int64_t c) {
    T* to = dx + (b * shape.in + c) * planes.x;
    std::fill_n(to, planes.x, T(0));
    for (std::int64_t o = 0; o < shape.out; ++o) {
      const T* from = grad + (b * shape.out + o) * planes.y;
      const T* w = weight + (o * shape.in + c) * planes.kernel;
      for (std::int64_t k = 0; k < planes.kernel; ++k)
        planes.each_pair(k, [&](std::int64_t i, std::int64_t j) { to[i] += w[k] * from[j]; });
    }
  });
}

template <class T>
void conv_backward_weights(const ConvShape& shape, const T* x, const T* grad, T* d_weight,
                           T* d_bias) {
  const Planes planes(shape);
  each_pair(shape.out, shape.in, [&](std::int64_t o, std::int64_t c) {
    T* to = d_weight + (o * shape.in + c) * planes.kernel;
    std::fill_n(to, planes.kernel, T(0));
    for (std::int64_t b = 0; b < shape.batch; ++b) {
      const T* g = grad + (b * shape.out + o) * planes.y;
      const T* from = x + (b * shape.in + c) * planes.x;
      for (std::int64_t k = 0; k < planes.kernel; ++k)
        planes.each_pair(k, [&](std::int64_t i, std::int64_t j) { to[k] += g[j] * from[i]; });
    }
  });
  for (std::int64_t o = 0; d_bias != nullptr && o < shape.out; ++o) {
    d_bias[o] = T(0);
    for (std::int64_t b = 0; b < shape.batch; ++b)
      for (std::int64_t j = 0; j < planes.y; ++j)
        d_bias[o] += grad[(b * shape.out + o) * planes.y + j];
  }
}

}  // namespace plain

void validate(const ConvShape& shape, const char* where) {
  bool fits = shape.batch >= 0 && shape.in >= 0 && shape.out >= 0;
  for (std::size_t axis = 0; axis < 2; ++axis)
    fits = fits && shape.size[axis] >= 0 && shape.kernel[axis] >= 1 &&
           shape.stride[axis] >= 1 && shape.dilation[axis] >= 1 &&
           shape.pad_before[axis] >= 0 && shape.pad_after[axis] >= 0;
  if (!fits)
    fail(where, ": an extent or a pad is negative, or a kernel, stride or dilation below 1");
}

/// Whether there is anything to multiply.
bool has_numbers(const ConvShape& shape) {
  const std::array<std::int64_t, 2> y = shape.out_size();
  return shape.batch > 0 && shape.in > 0 && shape.out > 0 && y[0] > 0 && y[1] > 0 &&
         shape.size[0] > 0 && shape.size[1] > 0;
}

using cpu::BlockProduct;
using cpu::Places;
using cpu::Scratch;

/// Places that are unfolded at once: what they see stays in L2.
constexpr std::int64_t kMostPlaces = 256;
/// Multiply-adds that are worth a task.
constexpr std::int64_t kTaskWork = std::int64_t{1} << 20;

std::int64_t in_parts(std::int64_t size, std::int64_t part) {
  return (size + part - 1) / part;
}

/// What all three directions share.
struct Walk {
  Walk(Target target, const ConvShape& from)
      : shape(from),
        products(cpu::isa_table<cpu::ProductTable>(target)),
        unfolding(cpu::isa_table<cpu::UnfoldTable>(target)),
        image(from),
        depth(image.depth()),
        positions(image.positions()),
        columns(std::min(kMostPlaces, image.y_size[1])),
        rows(std::clamp<std::int64_t>(kMostPlaces / image.y_size[1], 1, image.y_size[0])),
        stretch(rows * columns),
        x_image(shape.in * shape.size[0] * shape.size[1]),
        y_image(shape.out * positions),
        sees_x(depth == shape.in && x_image == shape.in * positions && shape.stride[0] == 1 &&
               shape.stride[1] == 1),
        task_images(std::clamp<std::int64_t>(kTaskWork / (shape.out * depth * positions), 1,
                                             shape.batch)) {}

  /// Calls run(places, the first of them) for the whole of an image.
  template <class Run>
  void each_stretch(const Run& run) const {
    const auto [height, width] = image.y_size;
    for (std::int64_t row = 0; row < height; row += rows)
      for (std::int64_t column = 0; column < width; column += columns)
        run(Places{row, std::min(rows, height - row), column,
                   std::min(columns, width - column)},
            row * width + column);
  }

  ConvShape shape;
  const cpu::ProductTable& products;
  const cpu::UnfoldTable& unfolding;
  cpu::PaddedImage image;
  std::int64_t depth;      ///< numbers of the kernel that a place of y is a sum over
  std::int64_t positions;  ///< of an image of y
  std::int64_t columns;    ///< places at once: some rows, or a piece of one
  std::int64_t rows;
  std::int64_t stretch;
  std::int64_t x_image;
  std::int64_t y_image;
  bool sees_x;               ///< as it lies: a kernel of one number, nothing padded
  std::int64_t task_images;  ///< that are worth a task
};

/// What a thread works in: an image with the zeros around it, what the kernel sees of it, and
/// gradients side by side. Without a base it counts.
struct Memory {
  Memory(const Walk& walk, std::int64_t seen_numbers, std::int64_t grad_numbers = 0,
         std::byte* base = nullptr)
      : scratch{base},
        padded(scratch.take<float>(walk.image.size())),
        seen(scratch.take<float>(seen_numbers)),
        grads(scratch.take<float>(grad_numbers)) {}

  Scratch scratch;
  float* padded;
  float* seen;
  float* grads;
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

std::array<std::int64_t, 2> ConvShape::out_size() const {
  std::array<std::int64_t, 2> result{};
  for (std::size_t axis = 0; axis < 2; ++axis) {
    const std::int64_t padded = size[axis] + pad_before[axis] + pad_after[axis];
    const std::int64_t last = padded - dilation[axis] * (kernel[axis] - 1) - 1;
    result[axis] = last < 0 ? 0 : last / stride[axis] + 1;
  }
  return result;
}

// y = W · what the kernel sees: [out, places] = [out, depth] [depth, places].
void conv_forward_on(Target target, const ConvShape& shape, const float* x, const float* weight,
                     const float* bias, float* y) {
  const Walk walk(target, shape);
  const BlockProduct common{.rows = shape.out,
                            .columns = walk.stretch,
                            .depth = walk.depth,
                            .a = {weight, walk.depth, 1},
                            .b = {nullptr, walk.stretch, 1},
                            .c_stride = walk.positions,
                            .beta = bias == nullptr ? 0.0f : 1.0f};
  const std::int64_t seen = walk.depth * walk.stretch;
  const std::size_t bytes = Memory(walk, seen).scratch.used;
  const Pieces pieces(shape.batch, walk.task_images, bytes + walk.products.bytes(common));
  pieces.run([&](const Piece& piece) {
    const Memory memory(walk, seen, 0, piece.memory);
    BlockProduct block = common;
    block.b.data = memory.seen;
    std::fill_n(memory.padded, walk.image.size(), 0.0f);
    for (std::int64_t number = piece.begin; number < piece.end; ++number) {
      float* to = y + number * walk.y_image;
      for (std::int64_t o = 0; bias != nullptr && o < shape.out; ++o)
        std::fill_n(to + o * walk.positions, walk.positions, bias[o]);
      const float* image = x + number * walk.x_image;
      if (!walk.sees_x) walk.unfolding.pad(walk.image, image, memory.padded);
      walk.each_stretch([&](const Places& at, std::int64_t first) {
        if (walk.sees_x) {
          block.b = {image + first, walk.positions, 1};
        } else {
          walk.unfolding.unfold(walk.image, memory.padded, at, memory.seen, walk.stretch);
        }
        block.columns = at.count();
        block.c = to + first;
        walk.products.product(block, piece.memory + bytes);
      });
    }
  });
}

// The gradient of what the kernel sees, [depth, places] = W^T [depth, out] · dy [out, places],
// is added to where it was seen.
void conv_backward_data_on(Target target, const ConvShape& shape, const float* grad,
                           const float* weight, float* dx) {
  const Walk walk(target, shape);
  // Whole channels of x, about as many as stay in L2.
  constexpr std::int64_t kMostRows = 512;
  const std::int64_t taps = walk.image.taps();
  const std::int64_t rows = taps * std::clamp<std::int64_t>(kMostRows / taps, 1, shape.in);
  const BlockProduct common{.rows = rows,
                            .columns = walk.stretch,
                            .depth = shape.out,
                            .a = {weight, 1, walk.depth},
                            .b = {nullptr, walk.positions, 1},
                            .c_stride = walk.stretch};
  // Whole vectors are read at the end.
  const std::int64_t seen = rows * walk.stretch + 16;
  const std::size_t bytes = Memory(walk, seen).scratch.used;
  const Pieces pieces(shape.batch, walk.task_images, bytes + walk.products.bytes(common));
  pieces.run([&](const Piece& piece) {
    const Memory memory(walk, seen, 0, piece.memory);
    BlockProduct block = common;
    block.c = memory.seen;
    for (std::int64_t number = piece.begin; number < piece.end; ++number) {
      float* to = dx + number * walk.x_image;
      if (!walk.sees_x) std::fill_n(memory.padded, walk.image.size(), 0.0f);
      walk.each_stretch([&](const Places& at, std::int64_t first) {
        block.b.data = grad + number * walk.y_image + first;
        block.columns = at.count();
        for (std::int64_t row = 0; row < walk.depth; row += rows) {
          block.rows = std::min(rows, walk.depth - row);
          block.a.data = weight + row;
          if (walk.sees_x) {
            block.c = to + row * walk.positions + first;
            block.c_stride = walk.positions;
          }
          walk.products.product(block, piece.memory + bytes);
          if (!walk.sees_x)
            walk.unfolding.fold(walk.image, memory.seen, walk.stretch, row, row + block.rows,
                                at, memory.padded);
        }
      });
      if (!walk.sees_x) walk.unfolding.unpad(walk.image, memory.padded, to);
    }
  });
}

// dW^T = what the kernel sees · dy^T: [depth, out] = [depth, places] [places, out], summed over
// the images. Turned, the smaller of the two is laid out; a row of ones makes the bias'
// gradient.
void conv_backward_weights_on(Target target, const ConvShape& shape, const float* x,
                              const float* grad, float* d_weight, float* d_bias) {
  const Walk walk(target, shape);
  // Small images go together: a product of few places is mostly the sums it is added to.
  const std::int64_t together =
      std::clamp<std::int64_t>(kMostPlaces / walk.stretch, 1, shape.batch);
  const std::int64_t depth = together * walk.stretch;
  // Rows a multiple of 1 KiB apart would meet in few sets of L1.
  const std::int64_t width = in_parts(depth, 32) * 32 + 16;
  const std::int64_t rows = walk.depth + 1;
  const BlockProduct common{.rows = rows,
                            .columns = shape.out,
                            .depth = depth,
                            .a = {nullptr, width, 1},
                            .b = {nullptr, 1, together > 1 ? width : walk.positions},
                            .c_stride = shape.out,
                            .beta = 1.0f,
                            .thin = shape.out <= walk.products.few && rows > shape.out};
  // By shape alone, into few pieces, since each has weights of its own to add up.
  constexpr std::int64_t kMostPieces = 16;
  const std::int64_t images =
      in_parts(std::max(in_parts(shape.batch, kMostPieces), walk.task_images), together) *
      together;
  const std::int64_t count = in_parts(shape.batch, images);
  const std::int64_t part = rows * shape.out;
  const std::int64_t seen = rows * width;
  const std::int64_t grads = shape.out * width;
  const std::size_t bytes = Memory(walk, seen, grads).scratch.used;
  const Pieces pieces(shape.batch, images, bytes + walk.products.bytes(common), count * part);
  pieces.run([&](const Piece& piece) {
    const Memory memory(walk, seen, grads, piece.memory);
    std::fill_n(memory.padded, walk.image.size(), 0.0f);
    std::fill_n(memory.seen + walk.depth * width, depth, 1.0f);
    BlockProduct block = common;
    block.a.data = memory.seen;
    block.c = pieces.shared() + piece.number * part;
    std::fill_n(block.c, part, 0.0f);
    for (std::int64_t number = piece.begin; number < piece.end; number += together) {
      const std::int64_t some = std::min(together, piece.end - number);
      walk.each_stretch([&](const Places& at, std::int64_t first) {
        for (std::int64_t i = 0; i < some; ++i) {
          // Images that go together are seen whole.
          if (first == 0)
            walk.unfolding.pad(walk.image, x + (number + i) * walk.x_image, memory.padded);
          walk.unfolding.unfold(walk.image, memory.padded, at, memory.seen + i * at.count(),
                                width);
          const float* from = grad + (number + i) * walk.y_image + first;
          block.b.data = from;
          for (std::int64_t o = 0; together > 1 && o < shape.out; ++o)
            std::copy_n(from + o * walk.positions, at.count(),
                        memory.grads + o * width + i * at.count());
        }
        if (together > 1) block.b.data = memory.grads;
        block.depth = some * at.count();
        walk.products.product(block, piece.memory + bytes);
      });
    }
  });
  float* sums = pieces.shared();
  for (std::int64_t piece = 1; piece < count; ++piece)
    for (std::int64_t i = 0; i < part; ++i) sums[i] += sums[piece * part + i];
  // Square by square: both lie in whole lines then.
  constexpr std::int64_t kSquare = 16;
  for (std::int64_t row = 0; row < walk.depth; row += kSquare)
    for (std::int64_t o = 0; o < shape.out; ++o)
      for (std::int64_t i = row; i < std::min(row + kSquare, walk.depth); ++i)
        d_weight[o * walk.depth + i] = sums[i * shape.out + o];
  if (d_bias != nullptr) std::copy_n(sums + walk.depth * shape.out, shape.out, d_bias);
}

template <class T>
void conv_forward(const ConvShape& shape, const T* x, const T* weight, const T* bias, T* y) {
  validate(shape, "attn::gemm::conv_forward");
  if constexpr (std::is_same_v<T, float>)
    if (has_numbers(shape))
      return conv_forward_on(cpu::best_target(), shape, x, weight, bias, y);
  plain::conv_forward(shape, x, weight, bias, y);
}

template <class T>
void conv_backward_data(const ConvShape& shape, const T* grad, const T* weight, T* dx) {
  validate(shape, "attn::gemm::conv_backward_data");
  if constexpr (std::is_same_v<T, float>)
    if (has_numbers(shape))
      return conv_backward_data_on(cpu::best_target(), shape, grad, weight, dx);
  plain::conv_backward_data(shape, grad, weight, dx);
}

template <class T>
void conv_backward_weights(const ConvShape& shape, const T* x, const T* grad, T* d_weight,
                           T* d_bias) {
  validate(shape, "attn::gemm::conv_backward_weights");
  if constexpr (std::is_same_v<T, float>)
    if (has_numbers(shape))
      return conv_backward_weights_on(cpu::best_target(), shape, x, grad, d_weight, d_bias);
  plain::conv_backward_weights(shape, x, grad, d_weight, d_bias);
}

template void conv_forward(const ConvShape&, const float*, const float*, const float*, float*);
template void conv_forward(const ConvShape&, const double*, const double*, const double*,
                           double*);
template void conv_backward_data(const ConvShape&, const float*, const float*, float*);
template void conv_backward_data(const ConvShape&, const double*, const double*, double*);
template void conv_backward_weights(const ConvShape&, const float*, const float*, float*,
                                    float*);
template void conv_backward_weights(const ConvShape&, const double*, const double*, double*,
                                    double*);

}  // namespace attn::gemm
