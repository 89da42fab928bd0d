// What every verb shares: options, streams, signals, the way from an error to an exit code.
#pragma once

#include <CLI/CLI.hpp>
#include <atomic>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>

#include "cli/progress.h"
#include "cli/target.h"
#include "engine/exec/engine.h"
#include "measure/inputs.h"
#include "measure/timed.h"
#include "report/style.h"

namespace hasten {

using Json = nlohmann::ordered_json;

/// CLI::NonNegativeNumber tells its range with the 309 digits of the largest double.
inline CLI::Validator not_negative() {
  return {[](std::string& text) {
            double x = 0;
            return CLI::detail::lexical_cast(text, x) && x >= 0
                       ? std::string()
                       : "'" + text + "': want a number from 0";
          },
          "NONNEGATIVE"};
}

class App {
 public:
  /// Takes over SIGINT and SIGTERM: see control().
  App();
  /// Adds --json, --memory-limit, --verify, the limits of loading and --verbose to a verb.
  void add_common(CLI::App& verb);
  /// Adds --input, --data and --seed.
  void add_inputs(CLI::App& verb);

  bool json() const { return json_; }
  void set_json(bool json) { json_ = json; }
  /// Colours for stdout: none unless it is a terminal.
  Style style() const;

  /// Errors: those of Context::make.
  Result<Context*> context();
  /// Parses a target; --memory-limit goes into its options. An error here is one of usage.
  Result<Target> target(const std::string& text);
  /// Opens it; an option that the engine refuses is an error of usage too.
  Result<OpenedModel> open(const Target& target);
  /// The model as a graph: loaded from .onnx or .hplan; nodes that can't run stay in it.
  Result<Graph> graph(const Target& target);
  /// Inputs as asked for, or made up for this model; what was made up is logged.
  Result<Samples> inputs(const Target& target, const std::vector<Port>& ports);
  const InputRequest& request() const { return request_; }
  void set_request(InputRequest request) { request_ = std::move(request); }
  int64_t memory_limit() const { return memory_limit_; }

  /// Stops on Ctrl-C, draws a progress line. From the first call on Ctrl-C only sets a flag.
  MeasureControl control();
  bool stopped() const;
  /// 130 if Ctrl-C was pressed meanwhile, else `code`.
  int exit_unless_stopped(int code) const;

  /// Prints the JSON object or the text to stdout. Error: io.
  Status print(const Json& json, const std::string& text);
  /// A line on stderr.
  void warn(const std::string& message);
  void note(const std::string& message);

  /// Says what went wrong, on stderr and with --json on stdout; returns the exit code.
  int fail_with(const Error& error);
  /// Says what went wrong after the result has been printed, on stderr only; returns the exit code.
  int note_failure(const Error& error);
  /// The same for a command line that makes no sense: exit code 2.
  int usage(const std::string& message);

 private:
  class Log;
  Status limit_peer_memory(const EngineOptions& options);
  void warn_of_shapes(const Target& target);
  Status verify_files(const Target& target);

  bool json_ = false, verbose_ = false, verify_ = false, usage_error_ = false,
       memory_limited_ = false;
  int64_t memory_limit_ = 0;
  LoadLimits limits_;
  InputRequest request_;
  std::shared_ptr<LogSink> log_;
  std::unique_ptr<Context> context_;
  ProgressLine progress_;
  std::set<std::string> noted_;
};

/// One verb: its options go into `verb`; `run` is what it does once they are parsed.
using Run = std::function<Result<int>()>;

}  // namespace hasten
