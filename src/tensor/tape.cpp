#include "attn/tensor/tape.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <queue>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "attn/core/dtype.hpp"
#include "attn/core/error.hpp"
#include "attn/tensor/ops/pointwise.hpp"
#include "attn/tensor/tensor.hpp"
#include "tensor/op.hpp"

namespace attn {
namespace {

thread_local bool recording = true;

std::uint64_t next_order() {
  static std::atomic<std::uint64_t> count{0};
  return ++count;
}

void add_to_leaf(Tensor::Impl& leaf, const Tensor& grad) {
  // A gradient may be a view of something larger, or belong to several leaves: keep our own.
  const bool ours = grad.impl_pointer().use_count() == 1 &&
                    grad.impl().storage.use_count() == 1 && grad.is_contiguous();
  leaf.grad = leaf.grad.defined() ? add(leaf.grad, grad) : ours ? grad : grad.clone();
}

/// Nodes with gradients waiting, latest first: everything that uses a node comes after it.
class Walk {
 public:
  void arrive(const std::shared_ptr<Node>& node, int output, const Tensor& grad) {
    auto [place, fresh] = waiting_.try_emplace(node.get());
    Gradients& grads = place->second;
    if (fresh) {
      grads.resize(node->output_shapes.size());
      queue_.emplace(node->order, node);
    }
    Tensor& slot = grads[static_cast<std::size_t>(output)];
    slot = slot.defined() ? add(slot, grad) : grad;
  }

  void run() {
    while (!queue_.empty()) {
      const std::shared_ptr<Node> node = queue_.top().second;
      queue_.pop();
      const auto place = waiting_.find(node.get());
      const Gradients grads = std::move(place->second);
      waiting_.erase(place);
      visit(*node, grads);
    }
  }

 private:
  using Entry = std::pair<std::uint64_t, std::shared_ptr<Node>>;

  void visit(Node& node, const Gradients& grads) {
    if (node.released)
      fail("attn::backward: the graph behind ", node.name,
           " was released by an earlier backward(); run the forward pass again");
    const Gradients down = node.backward(grads, node.needs);
    if (down.size() != node.inputs.size())
      fail("attn::backward: ", node.name, " gave ", down.size(), " gradients for ",
           node.inputs.size(), " inputs");
    for (std::size_t i = 0; i < down.size(); ++i) {
      if (!node.needs[i] || !down[i].defined()) continue;
      const Node::Edge& edge = node.inputs[i];
      if (edge.leaf) {
        add_to_leaf(*edge.leaf, down[i]);
      } else {
        arrive(edge.node, edge.output, down[i]);
      }
    }
    node.backward = nullptr;
    node.released = true;
  }

  std::unordered_map<Node*, Gradients> waiting_;
  std::priority_queue<Entry> queue_;
};

Tensor seed_for(const Tensor& output, const Tensor& seed) {
  if (!seed.defined()) {
    if (output.numel() != 1)
      fail("attn::backward: ", output.text(),
           " without a seed; one number, or a seed of the same shape, is accepted");
    return Tensor::full(output.shape(), 1.0, output.dtype(), output.device());
  }
  op::require_shape(seed, output.shape(), "attn::backward", "the seed");
  op::require_same_kind(output, seed, "attn::backward");
  return seed;
}

}  // namespace

NoGrad::NoGrad() : before_(recording) {
  recording = false;
}
NoGrad::~NoGrad() {
  recording = before_;
}
bool grad_enabled() {
  return recording;
}

Saved::Saved(const Tensor& tensor) {
  if (!tensor.defined()) return;
  tensor_ = tensor.detach();
  version_ = tensor_.impl().storage->version();
}

const Tensor& Saved::get() const {
  if (tensor_.defined() && tensor_.impl().storage->version() != version_)
    fail("attn::backward: ", tensor_.text(),
         " was written in place after an op had saved it for its gradient; write to a copy");
  return tensor_;
}

Node::~Node() {
  std::vector<std::shared_ptr<Node>> chain;
  const auto take = [&](std::vector<Edge>& edges) {
    for (Edge& edge : edges)
      if (edge.node && edge.node.use_count() == 1) chain.push_back(std::move(edge.node));
  };
  take(inputs);
  while (!chain.empty()) {
    const std::shared_ptr<Node> node = std::move(chain.back());
    chain.pop_back();
    take(node->inputs);
  }
}

bool wants_grad(std::span<const Tensor> inputs) {
  if (!recording) return false;
  for (const Tensor& input : inputs)
    if (input.defined() && input.requires_grad()) return true;
  return false;
}
bool wants_grad(std::initializer_list<Tensor> inputs) {
  return wants_grad(std::span<const Tensor>(inputs.begin(), inputs.size()));
}

void record(const char* name, std::span<const Tensor> inputs, std::span<Tensor> outputs,
            Backward backward) {
  if (!wants_grad(inputs)) return;
  const auto node = std::make_shared<Node>();
  node->name = name;
  node->order = next_order();
  node->backward = std::move(backward);
  for (const Tensor& input : inputs) {
    Node::Edge edge;
    const bool needed = input.defined() && input.requires_grad();
    if (needed && input.is_leaf()) {
      edge.leaf = input.impl_pointer();
    } else if (needed) {
      edge.node = input.impl().node;
      edge.output = input.impl().output;
    }
    node->inputs.push_back(std::move(edge));
    node->needs.push_back(needed);
  }
  int index = 0;
  for (Tensor& output : outputs) {
    node->output_shapes.push_back(output.defined() ? output.shape() : Shape{});
    node->output_dtypes.push_back(output.defined() ? output.dtype() : DType::f32);
    if (output.defined() && op::is_real(output.dtype())) {
      output.impl().requires_grad = true;
      output.impl().node = node;
      output.impl().output = index;
    }
    ++index;
  }
}

Tensor record(const char* name, std::initializer_list<Tensor> inputs, Tensor output,
              Backward backward) {
  record(name, std::span<const Tensor>(inputs.begin(), inputs.size()), {&output, 1},
         std::move(backward));
  return output;
}

void backward(std::span<const Tensor> outputs, std::span<const Tensor> seeds) {
  if (outputs.size() != seeds.size())
    fail("attn::backward: ", seeds.size(), " seeds for ", outputs.size(), " outputs");
  const NoGrad off_the_tape;
  Walk walk;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Tensor& output = outputs[i];
    if (!output.requires_grad())
      fail("attn::backward: ", output.text(),
           " has no graph: nothing that made it requires a gradient, or it was made "
           "under NoGrad");
    const Tensor seed = seed_for(output, seeds[i]);
    if (output.is_leaf()) {
      add_to_leaf(output.impl(), seed);
    } else {
      walk.arrive(output.impl().node, output.impl().output, seed);
    }
  }
  walk.run();
}

}  // namespace attn
