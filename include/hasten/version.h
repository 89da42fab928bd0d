#pragma once

namespace hasten::api {

/// "0.1.0"
const char* version();

}  // namespace hasten::api
