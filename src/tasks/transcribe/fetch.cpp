// SPDX-License-Identifier: Apache-2.0

#include "attn/tasks/transcribe/fetch.hpp"

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "attn/tasks/corpus.hpp"
#include "attn/tasks/fetch/cache.hpp"
#include "attn/tasks/fetch/npm.hpp"
#include "tasks/loading.hpp"
#include "tasks/transcribe/moonshine.hpp"

namespace attn::tasks {
namespace {

namespace fs = std::filesystem;

/// MIT; English, tiny and base, 8 bits.
const std::string kPackage = "@usefulsensors/moonshine-js@0.1.14";

std::vector<NpmFile> files_of_package() {
  const auto file = [](const std::string& name, const std::string& sha256) {
    return NpmFile{kPackage, name, sha256};
  };
  return {file(SpeechFiles("base").encoder,
               "1dd9ab0a7f987113d30affcba5a068d11c8f90fa0223caa3e491ade431ad9751"),
          file(SpeechFiles("base").decoder,
               "cc9f3cd6698a369c6008b41aa60aa3fb3322e7f03c9bdf19d8e6b7200afca4f3"),
          file(SpeechFiles("tiny").encoder,
               "c6fc4b7bc5af75c0591fd157a1f3829b533d18e9769a888fd95a62e470dd4f4a"),
          file(SpeechFiles("tiny").decoder,
               "eed87831c3a6103534aae7d47a5d485025c659a1323901513961c39fe8a1a367"),
          file(SpeechFiles("base").pieces,
               "38fc147db5b41c142183e02effa22ef4f6988d2b9254843269050f80538e3221")};
}

}  // namespace

fs::path transcribe_folder() {
  return cache_folder() / kPackage;
}

bool has_transcribe(const std::string& model) {
  const fs::path folder = transcribe_folder();
  const SpeechFiles files(model);
  std::error_code ignored;
  return fs::exists(folder / files.encoder, ignored) &&
         fs::exists(folder / files.decoder, ignored) &&
         fs::exists(folder / files.pieces, ignored);
}

fs::path fetch_transcribe(const Say& say) {
  bool all = true;
  for (const char* model : kSpeechModels) all = all && has_transcribe(model);
  if (!all)
    tell(say,
         "the speech models (Moonshine, English, MIT) are fetched once: 73 MB, 94 MB on "
         "the disk");
  return fetched(files_of_package(), say);
}

}  // namespace attn::tasks
