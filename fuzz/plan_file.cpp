#include "engine/plan/plan_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "base/mapped_file.h"
#include "fuzz/bounded_run.h"
#include "fuzz/random_graph.h"
#include "fuzz/targets.h"

namespace hasten::fuzz {

namespace {

/// A change to a file: how, where (two bytes), to what.
constexpr size_t kChangeBytes = 4, kMaxChanges = 7;

/// Changes the metadata, or cuts the file short, or flips a bit of the weights.
void change(std::string& file, Input how) {
  PlanHeader header;
  std::memcpy(&header, file.data(), sizeof header);
  const size_t metadata = header.metadata_bytes, where = how[1] | how[2] << 8;
  if (metadata < 16 || sizeof header + metadata >= file.size()) return;  // cut short before
  char* at = file.data() + sizeof header;
  const auto put = [&](auto value) {
    std::memcpy(at + where % (metadata / sizeof value) * sizeof value, &value, sizeof value);
  };
  constexpr int64_t kExtremes[] = {INT64_MAX, INT64_MIN, -1, INT32_MAX,
                                   1LL << 32, 1LL << 40, 64, 0};
  switch (how[0] % 6) {
    case 0:
      return put(how[3]);
    case 1:
      return put(static_cast<int32_t>(static_cast<int8_t>(how[3])));
    case 2:
      return put(static_cast<int64_t>(static_cast<int8_t>(how[3])));
    case 3:
      return put(kExtremes[how[3] % std::size(kExtremes)]);
    case 4:
      file[sizeof header + metadata + where % (file.size() - sizeof header - metadata)] ^=
          static_cast<char>(how[3]);
      return;
    default:
      file.resize(file.size() - where % file.size());
  }
}

/// The header as it belongs to the metadata, so that what is behind the hash gets looked at.
void seal(std::string& file) {
  PlanHeader header;
  if (file.size() < sizeof header) return;
  std::memcpy(&header, file.data(), sizeof header);
  header.file_bytes = file.size();
  if (header.metadata_bytes <= file.size() - sizeof header) {
    const auto metadata = std::as_bytes(std::span(file)).subspan(sizeof header);
    std::memcpy(header.metadata_hash, hash_hex(metadata.first(header.metadata_bytes)).data(),
                sizeof header.metadata_hash);
  }
  std::memcpy(file.data(), &header, sizeof header);
}

Result<PlanFile> load(const std::string& file, const Context& context) {
  const int fd = memfd_create("plan", MFD_CLOEXEC);
  const std::string path = fmt::format("/proc/self/fd/{}", fd);
  auto plan = write(fd, file.data(), file.size()) == static_cast<ssize_t>(file.size())
                  ? load_plan(path, isa_name(context.isa()))
                  : fail(Code::kIo, "no memory file");
  close(fd);
  return plan;
}

}  // namespace

std::string plan_file(Input bytes) {
  static const auto context = *Context::make();
  if (bytes.empty()) return "";
  const size_t count =
      std::min<size_t>(bytes.back() % (kMaxChanges + 1), (bytes.size() - 1) / kChangeBytes);
  const Input choices = bytes.first(bytes.size() - 1 - count * kChangeBytes);
  const RandomGraph g = random_graph(choices.data(), choices.size());
  EngineOptions options;
  options.threads = 1;
  options.memory_limit = kMaxBytes;
  auto made = NativeEngine::compile(*context, graph_of(g), options);
  if (!made) return "";
  run_on_zeros(**made);
  std::string file =
      write_plan((*made)->graph(), (*made)->packed(), isa_name(context->isa()), "hash", false);
  for (size_t i = 0; i < count; ++i) {
    change(file, bytes.subspan(choices.size() + i * kChangeBytes, kChangeBytes));
  }
  seal(file);
  auto plan = load(file, *context);
  if (!plan) return count == 0 ? "a plan as it was saved: " + plan.error().message : "";
  if (!ends_soon(plan->graph)) return "";
  auto engine =
      NativeEngine::resume(*context, std::move(plan->graph), options, std::move(plan->packed));
  if (engine) run_on_zeros(**engine);
  return "";
}

}  // namespace hasten::fuzz
