// State dicts of torch.nn.MultiheadAttention, kept as safetensors, give torch's own outputs.

#include <algorithm>
#include <attn/attn.hpp>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

using namespace attn;

namespace {

double distance(const Tensor& a, const Tensor& b) {
  const auto x = a.detach().to_vector<float>(), y = b.to_vector<float>();
  double most = x.size() == y.size() ? 0.0 : 1e30;
  for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i)
    most = std::max(most, double{std::fabs(x[i] - y[i])});
  return most;
}

struct Case {
  const char* name;
  std::int64_t heads;
};

bool agrees(const Case& one) {
  const std::filesystem::path path =
      std::filesystem::path(DATA) /
      (std::string("torch_multihead_attention__") + one.name + ".safetensors");
  const files::Safetensors file = files::read_safetensors(path);
  const auto tensor = [&](const std::string& name) {
    return file.find(name) == nullptr ? Tensor() : from_array(file.at(name));
  };
  const Tensor query = tensor("in.query");
  const nn::TorchMultiheadAttention attention({.embed_dim = query.size(2), .heads = one.heads});
  // The state dict lies beside inputs and outputs, behind a prefix.
  nn::load_state(path, attention, {.prefix = "param."});
  const Attended seen = attention.forward(query, tensor("in.key"), tensor("in.value"),
                                          {.key_padding_mask = tensor("in.key_padding_mask"),
                                           .attn_mask = tensor("in.attn_mask"),
                                           .keep = {}},
                                          Want::output | Want::weights);
  const double output = distance(seen.output, tensor("out.output"));
  const double weights = distance(seen.weights, tensor("out.weights"));
  std::printf("%s: output %.2g, weights %.2g from torch\n", one.name, output, weights);
  return output < 2e-6 && weights < 1e-6;
}

}  // namespace

int main() {
  bool right = true;
  for (const Case& one : {Case{"float_mask", 2}, Case{"padding_per_head", 3}})
    right = agrees(one) && right;
  return right ? 0 : 1;
}
