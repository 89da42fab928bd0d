// Error values. Nothing in hasten throws across a function of its own API; see
// docs/ARCHITECTURE.md.
#pragma once

#include <fmt/format.h>

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace hasten {

enum class Code {
  kInvalidArgument,
  kInvalidModel,
  kUnsupported,
  kIo,
  kOutOfMemory,
  kDeadline,
  kCancelled,
  kInternal,
};

/// A failure: `message` names the place, both values and what to do about it.
struct Error {
  Code code = Code::kInternal;
  std::string message;
};

template <class T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

/// `return fail(Code::kIo, "cannot open '{}': {}", path, reason);`
template <class... Args>
tl::unexpected<Error> fail(Code code, fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected<Error>(Error{code, fmt::format(format, std::forward<Args>(args)...)});
}

inline tl::unexpected<Error> fail(Error error) { return tl::unexpected<Error>(std::move(error)); }

/// `invalid_model`, `io`, … as they appear in JSON.
const char* code_name(Code code);

/// The exit code of the command line (design: 2 usage, 3 bad model or input, 4 unsupported, 5 I/O
/// …).
int exit_code(Code code);

#define HASTEN_CONCAT_(a, b) a##b
#define HASTEN_CONCAT(a, b) HASTEN_CONCAT_(a, b)

/// Returns the error of a Status or Result, if it is one.
#define HASTEN_CHECK(expr)                                      \
  do {                                                          \
    if (auto hasten_status_ = (expr); !hasten_status_)          \
      return ::hasten::fail(std::move(hasten_status_.error())); \
  } while (false)

#define HASTEN_TRY_(tmp, decl, expr)                       \
  auto tmp = (expr);                                       \
  if (!tmp) return ::hasten::fail(std::move(tmp.error())); \
  decl = std::move(*tmp)

/// `HASTEN_TRY(auto graph, load(path));` declares graph or returns the error.
#define HASTEN_TRY(decl, expr) HASTEN_TRY_(HASTEN_CONCAT(hasten_try_, __LINE__), decl, expr)

}  // namespace hasten
