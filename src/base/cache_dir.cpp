#include "base/cache_dir.h"

#include <cstdlib>

namespace hasten {

std::string cache_dir() {
  const char* own = std::getenv("HASTEN_CACHE");
  if (own != nullptr && *own != '\0') return own;
  const char* home = std::getenv("HOME");
  return home != nullptr && *home != '\0' ? std::string(home) + "/.cache/hasten" : "";
}

}  // namespace hasten
