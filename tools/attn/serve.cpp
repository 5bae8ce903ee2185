// attn serve: the page and the API on this machine.

// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/core/thread_pool.hpp"
#include "attn/files/printable.hpp"
#include "attn/tasks/task.hpp"
#include "attn/tensor/storage.hpp"
#include "tools/attn/checks.hpp"
#include "tools/attn/command.hpp"
#include "tools/attn/device.hpp"
#include "tools/attn/model_folder.hpp"
#include "tools/attn/progress.hpp"
#include "tools/serve/assets.hpp"
#include "tools/serve/models.hpp"
#include "tools/serve/options.hpp"
#include "tools/serve/server.hpp"
#include "tools/serve/service.hpp"

namespace attn::tools {
namespace {

constexpr const char* kFooter = R"(
The page lets you try the models and look inside; the same answers are there as JSON for
programs (/openapi.json describes it, docs/serve.md shows it with curl). Nobody but this machine
can reach it unless --host says otherwise, and no page but its own may ask it unless
--allow-origin does. Ctrl-C ends it once the answers that are being made have been given.

Examples:
    attn serve                                     then open http://127.0.0.1:8080/
    attn serve --port 0                            any free port; the address is printed
    attn serve --watch mine                        a page of the training in mine, live
    attn serve --model translate=my-model          a model of your own beside the one that ships
    attn serve --host 0.0.0.0 --allow-host box.lan on every address, as http://box.lan:8080/
    curl -s localhost:8080/api/answer -H 'content-type: application/json' \
         -d '{"task": "pronounce", "text": "attention"}')";

struct ServeFlags {
  serve::Options options;
  std::vector<std::string> models;
  std::vector<std::string> watch;
  double seconds = 10.0;
  bool verbose = false;
  bool fetch = false;
  Device device = Device::cpu;
};

/// The models that ship, and those that --model names.
serve::Models load_models(const std::vector<std::string>& named, Device device,
                          const Streams& streams) {
  check_device(device, "attn serve");
  serve::Models models(device);
  for (const std::string& text : named) {
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
      fail("--model takes TASK=DIR, not ", files::in_quotes(text));
    const std::string task = text.substr(0, equals);
    std::filesystem::path folder = text.substr(equals + 1);
    tasks::task_named(task);
    if (!folder.has_filename()) folder = folder.parent_path();  // "model/"
    const std::string name =
        files::printable(std::filesystem::absolute(folder).filename().string(), 60);
    models.add(task, models.free_name(task, name), folder);
  }
  const auto shipped = shipped_models();
  for (const tasks::Task* task : tasks::all_tasks()) {
    const std::string& name = task->name();
    if (const auto own = shipped.find(name); own != shipped.end())
      models.add(name, models.free_name(name, "shipped"), own->second);
    for (const auto& [other, folder] : shipped)
      if (other.starts_with(name + "-"))
        models.add(name, models.free_name(name, other.substr(name.size() + 1)), folder);
    models.add_packaged(*task);
    if (task->package() != nullptr && !models.has(name))
      fmt::print(streams.err,
                 "attn: the models of {} are not here and it is left out: {}, or "
                 "attn serve --fetch does\n",
                 name, task->package()->how());
    if (task->card().ships && !models.has(name))
      fmt::print(streams.err, "attn: there is no model for {}; it is left out\n", name);
  }
  return models;
}

/// Absolute, so that names are known and no other folder is ever looked into. One that is not
/// there yet may come: a training makes it.
std::vector<std::filesystem::path> watched(const std::vector<std::string>& named) {
  std::vector<std::filesystem::path> folders;
  std::error_code ignored;
  for (const std::string& name : named) {
    std::filesystem::path folder = std::filesystem::absolute(name).lexically_normal();
    if (!folder.has_filename()) folder = folder.parent_path();  // "run/"
    if (std::filesystem::exists(folder, ignored) &&
        !std::filesystem::is_directory(folder, ignored))
      fail<FileError>("--watch takes the folder of a training, and ", files::path_text(folder),
                      " is none");
    folders.push_back(std::move(folder));
  }
  return folders;
}

int serve_until_asked(const ServeFlags& flags, const Streams& streams) {
  serve::Options options = flags.options;
  options.limits.request = std::chrono::milliseconds(static_cast<int>(flags.seconds * 1000));
  options.limits.pause = std::min(options.limits.pause, options.limits.request);
  if (flags.verbose) options.log = streams.err;
  options.watch = watched(flags.watch);
  if (!serve::has_page())
    fmt::print(
        streams.err,
        "attn: the page is not in this program, so there is only JSON. It is built where "
        "npm and\nnode 18 are: sudo apt-get install -y npm, then ./attn serve again\n");
  if (flags.fetch)
    for (const tasks::Task* task : tasks::all_tasks())
      if (task->package() != nullptr) task->package()->fetch(progress(streams));
  const serve::Service service(std::move(options),
                               load_models(flags.models, flags.device, streams));
  serve::Server server(service);
  server.stop_on_signals();
  fmt::print(streams.out, "{}\n", server.address());
  if (!flags.watch.empty())
    fmt::print(streams.out, "{}watch.html shows the training\n", server.address());
  std::fflush(streams.out);
  server.run();
  return success;
}

}  // namespace

void add_serve(CLI::App& app, Action& action) {
  auto flags = std::make_shared<ServeFlags>();
  serve::Options& options = flags->options;
  options.threads = std::min(ThreadPool::default_threads(), 4);
  CLI::App* command = app.add_subcommand(
      "serve", "Serve a page to try the models, and a JSON API for programs");
  command->footer(kFooter);
  command->add_option("--host", options.host, "Name or address to listen at")
      ->capture_default_str()
      ->type_name("HOST")
      ->check([](const std::string& host) -> std::string {
        return host.empty() ? "a name or an address is accepted, such as 127.0.0.1" : "";
      });
  command->add_option("--port", options.port, "Port to listen at; 0: any that is free")
      ->capture_default_str()
      ->type_name("PORT")
      ->check(CLI::Range(0, 65535));
  command
      ->add_option("--threads", options.threads, "Number of requests answered at the same time")
      ->capture_default_str()
      ->check(CLI::Range(1, 256));
  command->add_option("--model", flags->models, "Serve this model too; may be repeated")
      ->allow_extra_args(false)
      ->type_name("TASK=DIR");
  command
      ->add_option("--watch", flags->watch,
                   "Show the training run in this folder at /watch.html; it may begin later; "
                   "may be repeated")
      ->allow_extra_args(false)
      ->type_name("RUN");
  command->add_flag("--fetch", flags->fetch,
                    "Fetch models that others trained where they are not here (transcribe: 73 "
                    "MB); without it nothing is fetched");
  command
      ->add_option("--allow-origin", options.origins,
                   "Allow requests from pages of this origin; *: all; may be repeated")
      ->allow_extra_args(false)
      ->type_name("ORIGIN");
  command
      ->add_option("--allow-host", options.names, "Accept this host name too; may be repeated")
      ->allow_extra_args(false)
      ->type_name("NAME");
  command
      ->add_option("--max-connections", options.limits.connections,
                   "Largest number of open connections")
      ->capture_default_str()
      ->check(CLI::Range(1, 100000));
  command->add_option("--max-body", options.limits.body, "Largest request, in bytes")
      ->capture_default_str()
      ->check(CLI::Range(1024, 64 << 20));
  command
      ->add_option("--timeout", flags->seconds,
                   "Seconds for a request to arrive, to wait for its turn, and for its answer "
                   "to be read")
      ->capture_default_str()
      ->check(between(0.1, 3600));
  add_device_flag(*command, flags->device, "Device that computes the answers");
  command->add_flag("--verbose", flags->verbose,
                    "Print a line for each request to standard error");
  command->callback([flags, &action] {
    action = [flags](const Streams& streams) { return serve_until_asked(*flags, streams); };
  });
}

}  // namespace attn::tools
