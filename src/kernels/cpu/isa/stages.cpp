// The library's own functors, compiled for one instruction set. This is the whole list.
#include "attn/kernels/cpu/compile.hpp"
#include "attn/mask/around.hpp"
#include "attn/mask/block_sparse.hpp"
#include "attn/mask/causal.hpp"
#include "attn/mask/dense.hpp"
#include "attn/mask/dilated.hpp"
#include "attn/mask/documents.hpp"
#include "attn/mask/lengths.hpp"
#include "attn/mask/none.hpp"
#include "attn/mask/prefix.hpp"
#include "attn/mask/sliding_window.hpp"
#include "attn/normalise/dropout.hpp"
#include "attn/normalise/hard.hpp"
#include "attn/normalise/identity.hpp"
#include "attn/normalise/local_gaussian.hpp"
#include "attn/normalise/mean.hpp"
#include "attn/normalise/scale_weight.hpp"
#include "attn/normalise/sigmoid.hpp"
#include "attn/normalise/softmax.hpp"
#include "attn/normalise/softmax_sink.hpp"
#include "attn/normalise/sparsemax.hpp"
#include "attn/normalise/summed_sigmoid.hpp"
#include "attn/score/alibi.hpp"
#include "attn/score/bias.hpp"
#include "attn/score/gaussian.hpp"
#include "attn/score/prior.hpp"
#include "attn/score/program.hpp"
#include "attn/score/relative_table.hpp"
#include "attn/score/scale.hpp"
#include "attn/score/soft_cap.hpp"
#include "attn/score/t5_bias.hpp"

namespace attn::cpu {

template struct ScoreKernels<score::Scale, kTarget>;
template struct ScoreKernels<score::LearnedScale, kTarget>;
template struct ScoreKernels<score::SoftCap, kTarget>;
template struct ScoreKernels<score::Alibi, kTarget>;
template struct ScoreKernels<score::RelativeTable, kTarget>;
template struct ScoreKernels<score::T5Bias, kTarget>;
template struct ScoreKernels<score::Gaussian, kTarget>;
template struct ScoreKernels<score::LearnedGaussian, kTarget>;
template struct ScoreKernels<score::Bias, kTarget>;
template struct ScoreKernels<score::Prior, kTarget>;
template struct ScoreKernels<score::Program, kTarget>;

template struct MaskKernels<mask::None, kTarget>;
template struct MaskKernels<mask::Around<float>, kTarget>;
template struct MaskKernels<mask::Causal, kTarget>;
template struct MaskKernels<mask::SlidingWindow, kTarget>;
template struct MaskKernels<mask::Prefix, kTarget>;
template struct MaskKernels<mask::Lengths, kTarget>;
template struct MaskKernels<mask::Documents, kTarget>;
template struct MaskKernels<mask::Dilated, kTarget>;
template struct MaskKernels<mask::BlockSparse, kTarget>;
template struct MaskKernels<mask::Dense, kTarget>;

template struct NormaliserKernels<normalise::Softmax, kTarget>;
template struct NormaliserKernels<normalise::SoftmaxSink, kTarget>;
template struct NormaliserKernels<normalise::Identity, kTarget>;
template struct NormaliserKernels<normalise::Mean, kTarget>;
template struct NormaliserKernels<normalise::Sigmoid, kTarget>;
template struct NormaliserKernels<normalise::SummedSigmoid, kTarget>;
template struct NormaliserKernels<normalise::HardMax, kTarget>;
template struct NormaliserKernels<normalise::HardSample, kTarget>;
template struct NormaliserKernels<normalise::Sparsemax, kTarget>;

template struct WeightKernels<normalise::Dropout, kTarget>;
template struct WeightKernels<normalise::LocalGaussian, kTarget>;
template struct WeightKernels<normalise::ScaleWeight, kTarget>;
template struct WeightKernels<score::Program, kTarget>;

}  // namespace attn::cpu
