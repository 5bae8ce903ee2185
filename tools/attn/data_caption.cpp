#include "tools/attn/data_caption.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "attn/tasks/caption/canvas.hpp"
#include "attn/tasks/caption/caption_training.hpp"
#include "attn/tasks/caption/digits.hpp"
#include "attn/tasks/task.hpp"
#include "tools/attn/command.hpp"
#include "tools/attn/pictures.hpp"
#include "tools/attn/progress.hpp"

namespace attn::tools {
namespace {

struct CanvasCounts {
  std::size_t by_digits[4] = {};  ///< canvases with one, two and three digits
  std::map<std::string, std::size_t> said;
  std::size_t captions = 0;  ///< different ones
  double most_frequent = 0.0;
};

CanvasCounts counts_of(const std::vector<tasks::Canvas>& canvases) {
  CanvasCounts counts;
  std::map<std::string, std::size_t> captions;
  for (const tasks::Canvas& canvas : canvases) {
    ++counts.by_digits[std::min<std::size_t>(3, canvas.digits.size())];
    ++captions[canvas.caption];
    for (const std::int64_t token : tasks::caption_tokens(canvas.caption))
      ++counts.said[tasks::caption_text({token})];
  }
  counts.captions = captions.size();
  std::size_t most = 0;
  for (const auto& [caption, count] : captions) most = std::max(most, count);
  counts.most_frequent = 100.0 * static_cast<double>(most) /
                         static_cast<double>(std::max<std::size_t>(1, canvases.size()));
  return counts;
}

nlohmann::json digits_json(const tasks::DigitParts& parts, const CanvasCounts& counts,
                           const std::vector<tasks::Canvas>& samples) {
  nlohmann::json json{
      {"digits",
       {{"train", parts.train.size()},
        {"development", parts.development.size()},
        {"test", parts.test.size()}}},
      {"test_canvases",
       {{"count", tasks::kTestCanvases},
        {"with_digits", {counts.by_digits[1], counts.by_digits[2], counts.by_digits[3]}},
        {"captions", counts.captions},
        {"words", counts.said},
        {"most_frequent_caption", counts.most_frequent}}}};
  for (const tasks::Canvas& sample : samples) {
    nlohmann::json digits = nlohmann::json::array();
    for (const tasks::PlacedDigit& box : sample.digits)
      digits.push_back({{"digit", box.digit},
                        {"x", box.x},
                        {"y", box.y},
                        {"width", box.width},
                        {"height", box.height}});
    json["samples"].push_back({{"caption", sample.caption}, {"digits", digits}});
  }
  return json;
}

}  // namespace

int data_caption(const CaptionDataOptions& options, const Streams& streams) {
  const tasks::DigitParts parts = tasks::load_digits(progress(streams));
  const std::vector<tasks::Canvas> test =
      tasks::test_canvases(parts.test, tasks::kTestCanvases);
  const CanvasCounts counts = counts_of(test);
  const std::vector<tasks::Canvas> samples(
      test.begin(),
      test.begin() + static_cast<std::ptrdiff_t>(std::min(options.samples, test.size())));
  if (options.json) {
    fmt::print(streams.out, "{}\n", digits_json(parts, counts, samples).dump(2));
  } else {
    fmt::print(streams.out,
               "caption\n\n  digits of MNIST: {} train, {} development, {} test; parts share "
               "none\n  test canvases: {}, of which {} with one digit, {} with two, {} with "
               "three\n  captions: {} different ones; saying the most frequent is right on "
               "{:.1f} %\n",
               parts.train.size(), parts.development.size(), parts.test.size(), test.size(),
               counts.by_digits[1], counts.by_digits[2], counts.by_digits[3], counts.captions,
               counts.most_frequent);
    for (const tasks::Canvas& sample : samples)
      fmt::print(streams.out, "\n{}  {}\n",
                 text_art({tasks::kCanvasSide, tasks::kCanvasSide, 1, sample.pixels}),
                 sample.caption);
  }
  if (options.out.empty()) return success;
  save_pictures(options.out, tasks::task_named("caption").samples(
                                 static_cast<std::int64_t>(samples.size()), progress(streams)));
  fmt::print(options.json ? streams.err : streams.out,
             "\nWritten to {}: {} canvases as PNG files, captions.tsv\n", options.out,
             samples.size());
  return success;
}

}  // namespace attn::tools
