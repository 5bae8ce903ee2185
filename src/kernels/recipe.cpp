#include "attn/kernels/recipe.hpp"

#include "attn/kernels/erase.hpp"
#include "attn/normalise/softmax.hpp"

namespace attn {

Recipe::Recipe() : normaliser(normaliser_stage(normalise::Softmax{})) {}

}  // namespace attn
