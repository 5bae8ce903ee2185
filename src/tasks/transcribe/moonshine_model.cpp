// SPDX-License-Identifier: Apache-2.0

#include "tasks/transcribe/moonshine_model.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/maps/map.hpp"
#include "attn/models/speech_model.hpp"
#include "attn/nn/module.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/task.hpp"
#include "attn/tasks/transcribe/fetch.hpp"
#include "attn/tasks/transcribe/samples.hpp"
#include "attn/tasks/transcribe/transcriber.hpp"
#include "attn/tasks/transcribe/transcript.hpp"
#include "attn/tensor/storage.hpp"
#include "tasks/transcribe/hearing.hpp"
#include "tasks/transcribe/moonshine.hpp"

namespace attn::tasks {
namespace {

namespace fs = std::filesystem;

const std::string kKind = "moonshine";

class MoonshineModel final : public HearingModel {
 public:
  MoonshineModel(const fs::path& package, std::string name)
      : transcriber_(Transcriber::load(package, name)), name_(std::move(name)) {
    transcriber_.model().eval();
  }

  nn::Module& module() const override { return transcriber_.model(); }
  std::string kind() const override { return kKind; }
  std::string variant() const override { return name_; }
  /// Weights are laid out for the CPU.
  bool runs_on(Device device) const override { return device == Device::cpu; }

 protected:
  Transcript hear(const Samples& samples, const Hearing& how) const override {
    return transcriber_(samples, how);
  }
  maps::Heads heads(const Samples& samples) const override {
    return transcriber_.heads(samples);
  }

 private:
  Transcriber transcriber_;
  std::string name_;
};

class MoonshinePackage final : public ModelPackage {
 public:
  const std::vector<Item>& items() const override {
    static const std::vector<Item> kItems{
        {"base", "English speech, Moonshine base", "WER 4.3 on 99 recorded prompts", kKind,
         61'513'920},
        {"tiny", "English speech, Moonshine tiny, twice as fast",
         "WER 6.1 on 99 recorded prompts", kKind, 27'092'736}};
    return kItems;
  }
  std::string how() const override {
    return "attn data transcribe fetches them, once: 73 MB, 94 MB on the disk";
  }
  std::string figure() const override { return "docs/gallery/words-in-a-sound.svg"; }
  bool has(const std::string& item) const override { return has_transcribe(item); }
  fs::path fetch(const Say& say) const override { return fetch_transcribe(say); }
  std::unique_ptr<Model> load(const std::string& item) const override {
    if (!has(item))
      fail<FileError>("the speech model ", files::in_quotes(item), " is not here: ", how());
    return std::make_unique<MoonshineModel>(transcribe_folder(), item);
  }
};

bool lies_in(const fs::path& file, const fs::path& folder) {
  const fs::path inside = file.lexically_relative(folder);
  return !inside.empty() && *inside.begin() != "..";
}

}  // namespace

const ModelPackage& moonshine_package() {
  static const MoonshinePackage kPackage;
  return kPackage;
}

std::unique_ptr<Model> load_moonshine(const fs::path& folder) {
  constexpr int kDeepest = 4;  // dist/model/base/quantized
  std::error_code ignored;
  const fs::path wanted = fs::weakly_canonical(folder, ignored);
  for (const char* name : kSpeechModels) {
    fs::path package = wanted;
    for (int i = 0; i <= kDeepest; ++i, package = package.parent_path()) {
      const fs::path encoder = package / SpeechFiles(name).encoder;
      if (lies_in(encoder, wanted) && fs::exists(encoder, ignored))
        return std::make_unique<MoonshineModel>(package, name);
    }
  }
  return nullptr;
}

}  // namespace attn::tasks
