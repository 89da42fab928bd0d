// Corpora as they lie in the repository: fuzz/corpora/<name>.pack holds many small inputs, each
// with its size in front (u32, little endian). tools/fuzz packs and unpacks them.
#pragma once

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace hasten::fuzz {

/// The inputs of a pack; throws nothing, gives what is whole.
inline std::vector<std::string> read_pack(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string all{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::string> inputs;
  for (size_t at = 0; at + 4 <= all.size();) {
    uint32_t size = 0;
    std::memcpy(&size, all.data() + at, 4);
    at += 4;
    if (size > all.size() - at) break;
    inputs.push_back(all.substr(at, size));
    at += size;
  }
  return inputs;
}

}  // namespace hasten::fuzz
