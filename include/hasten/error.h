// Errors of the public API. Nothing of it throws; nothing aborts on input.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace hasten::api {

enum class ErrorCode {
  kInvalidArgument,
  kInvalidModel,
  kUnsupported,
  kIo,
  kOutOfMemory,
  kDeadline,
  kCancelled,
  kInternal,
};

/// `message` names the place, both values, and what to do.
struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;
};

/// A value or an Error: `if (!r) use(r.error()); else use(*r);`
template <class T>
class Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT
  explicit operator bool() const { return state_.index() == 0; }
  T& operator*() { return std::get<0>(state_); }
  const T& operator*() const { return std::get<0>(state_); }
  T* operator->() { return &std::get<0>(state_); }
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

}  // namespace hasten::api
