// Where hasten keeps what it can make again.
#pragma once

#include <string>

namespace hasten {

/// $HASTEN_CACHE, else ~/.cache/hasten; empty if neither can be told. Not created here.
std::string cache_dir();

}  // namespace hasten
