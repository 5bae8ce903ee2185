// SPDX-License-Identifier: Apache-2.0

#include "tools/sound/sound_file.hpp"

#include <fcntl.h>
#include <sndfile.h>
#include <soxr.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attn/core/error.hpp"
#include "attn/files/printable.hpp"

namespace attn::sound {
namespace {

/// Sample frames that are decoded at a time.
constexpr std::int64_t kFrames = 1 << 16;

/// What a file is, by its contents. Formats without a header are not: any file would do.
bool is_read(int format) {
  switch (format & SF_FORMAT_TYPEMASK) {
    case SF_FORMAT_WAV:
    case SF_FORMAT_WAVEX:
    case SF_FORMAT_RF64:
    case SF_FORMAT_W64:
    case SF_FORMAT_AIFF:
    case SF_FORMAT_AU:
    case SF_FORMAT_CAF:
    case SF_FORMAT_FLAC:
    case SF_FORMAT_OGG:
    case SF_FORMAT_MPEG:
      return true;
    default:
      return false;
  }
}

/// A regular file, open for reading. A pipe or a device would block or never end.
class Descriptor {
 public:
  Descriptor(const std::filesystem::path& path, const std::string& where)
      : value_(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {
    if (value_ < 0) fail<FileError>(where, ": ", std::strerror(errno));
    struct stat facts{};
    const bool known = ::fstat(value_, &facts) == 0;
    size_ = known ? facts.st_size : 0;
    const char* problem = !known                   ? "it cannot be looked at"
                          : S_ISDIR(facts.st_mode) ? "it is a folder; a sound file is read"
                          : !S_ISREG(facts.st_mode)
                              ? "it is no plain file; a sound file is read"
                          : size_ == 0 ? "the file is empty; a sound file is read"
                                       : nullptr;
    if (problem == nullptr) return;
    ::close(value_);
    fail<FileError>(where, ": ", problem);
  }
  ~Descriptor() { ::close(value_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int value() const { return value_; }
  std::int64_t size() const { return size_; }

 private:
  int value_;
  std::int64_t size_ = 0;
};

struct CloseSound {
  void operator()(SNDFILE* file) const { sf_close(file); }
};
struct CloseResampler {
  void operator()(soxr* resampler) const { soxr_delete(resampler); }
};

/// What a RIFF file says of its length against what is there; "": they agree.
std::string length_note(const Descriptor& file) {
  constexpr std::int64_t kHead = 8;  // "RIFF", then the bytes behind
  constexpr std::uint32_t kUnknown = 0xFFFFFFFF;
  std::array<unsigned char, 12> head{};
  if (::pread(file.value(), head.data(), head.size(), 0) != static_cast<ssize_t>(head.size()) ||
      std::string_view(reinterpret_cast<const char*>(head.data()), 4) != "RIFF")
    return "";
  const std::uint32_t said = head[4] | (static_cast<std::uint32_t>(head[5]) << 8U) |
                             (static_cast<std::uint32_t>(head[6]) << 16U) |
                             (static_cast<std::uint32_t>(head[7]) << 24U);
  // Who writes into a pipe does not know.
  if (said == kUnknown || said == 0 || std::int64_t{said} + kHead <= file.size()) return "";
  return "the header tells of " + std::to_string(std::int64_t{said} + kHead) +
         " bytes and the file has " + std::to_string(file.size()) +
         ": it is cut short, and what is there was read";
}

/// One channel at another rate; at the same it passes through as it is.
class Resampler {
 public:
  Resampler(std::int64_t from, std::int64_t to, const std::string& where)
      : out_(from == to ? 0 : static_cast<std::size_t>(kFrames * to / from) + kFrames) {
    if (from == to) return;
    const soxr_quality_spec_t quality = soxr_quality_spec(SOXR_HQ, 0);
    soxr_error_t error = nullptr;
    soxr_.reset(soxr_create(static_cast<double>(from), static_cast<double>(to), 1, &error,
                            nullptr, &quality, nullptr));
    if (error != nullptr || !soxr_)
      fail<FileError>(where, ": it cannot be brought from ", from, " to ", to, " samples a ",
                      "second: ", error == nullptr ? "no memory" : error);
  }

  /// No samples: the end.
  std::span<const float> operator()(std::span<const float> in) {
    if (!soxr_) return in;
    std::size_t done = 0;
    std::size_t made = 0;
    soxr_process(soxr_.get(), in.empty() ? nullptr : in.data(), in.size(), &done, out_.data(),
                 out_.size(), &made);
    return {out_.data(), made};
  }

 private:
  std::unique_ptr<soxr, CloseResampler> soxr_;
  std::vector<float> out_;
};

}  // namespace

struct SoundFile::State {
  Descriptor descriptor;
  SF_INFO facts{};
  std::unique_ptr<SNDFILE, CloseSound> file{};
};

SoundFile::SoundFile(const std::filesystem::path& path, const Limits& limits)
    : where_(files::path_text(path)), limits_(limits) {
  state_ = std::unique_ptr<State>(new State{Descriptor(path, where_)});
  SF_INFO& facts = state_->facts;
  state_->file.reset(sf_open_fd(state_->descriptor.value(), SFM_READ, &facts, SF_FALSE));
  if (!state_->file || !is_read(facts.format))
    fail<FileError>(where_, ": it is not a sound file that can be read",
                    state_->file ? "" : ": " + files::printable(sf_strerror(nullptr), 120),
                    "; accepted: WAV, AIFF, AU, CAF, FLAC, Ogg (Vorbis, Opus) and MP3");
  if (facts.channels < 1 || facts.channels > limits_.channels)
    fail<FileError>(where_, ": ", facts.channels, " channels; 1 to ", limits_.channels,
                    " are accepted");
  if (facts.samplerate < limits_.least_rate || facts.samplerate > limits_.most_rate)
    fail<FileError>(where_, ": ", facts.samplerate, " samples a second; ", limits_.least_rate,
                    " to ", limits_.most_rate, " are accepted");
  if (const std::string note = length_note(state_->descriptor); !note.empty())
    notes_.push_back(note);
}

SoundFile::~SoundFile() = default;

double SoundFile::seconds() const {
  const SF_INFO& facts = state_->facts;
  if (facts.frames <= 0 || facts.frames == SF_COUNT_MAX) return 0.0;
  return static_cast<double>(facts.frames) / static_cast<double>(facts.samplerate);
}

std::int64_t SoundFile::read(std::int64_t rate,
                             const std::function<void(std::span<const float>)>& part) {
  const SF_INFO& facts = state_->facts;
  const auto channels = static_cast<std::size_t>(facts.channels);
  Resampler resampler(facts.samplerate, rate, where_);
  std::vector<float> frames(static_cast<std::size_t>(kFrames) * channels);
  std::vector<float> mono(static_cast<std::size_t>(kFrames));
  const auto most = static_cast<std::int64_t>(limits_.seconds * facts.samplerate);
  std::int64_t seen = 0;
  std::int64_t written = 0;
  bool damaged = false;
  const auto give = [&](std::span<const float> samples) {
    written += static_cast<std::int64_t>(samples.size());
    if (!samples.empty()) part(samples);
  };
  for (;;) {
    const sf_count_t count = sf_readf_float(state_->file.get(), frames.data(), kFrames);
    if (count <= 0) break;
    seen += count;
    if (seen > most)
      fail<FileError>(where_, ": it is longer than ", limits_.seconds / 3600.0,
                      " hours, which is the most that is read");
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      float sum = 0.0f;
      for (std::size_t c = 0; c < channels; ++c) sum += frames[i * channels + c];
      const float mean = sum / static_cast<float>(channels);
      damaged = damaged || !std::isfinite(mean);
      mono[i] = std::isfinite(mean) ? std::clamp(mean, -1.0f, 1.0f) : 0.0f;
    }
    give(resampler(std::span(mono).first(static_cast<std::size_t>(count))));
  }
  if (facts.samplerate != rate)
    for (std::span<const float> rest; !(rest = resampler({})).empty();) give(rest);
  if (damaged) notes_.emplace_back("some samples are no finite numbers; they were read as 0");
  if (sf_error(state_->file.get()) != SF_ERR_NO_ERROR)
    notes_.push_back("it could not be decoded to its end (" +
                     files::printable(sf_strerror(state_->file.get()), 120) +
                     "), and what came before was read");
  else if (notes_.empty() && facts.frames > seen && facts.frames != SF_COUNT_MAX)
    notes_.push_back("the header tells of " + std::to_string(facts.frames) +
                     " samples and the file has " + std::to_string(seen) +
                     ": it is cut short, and what is there was read");
  return written;
}

}  // namespace attn::sound
