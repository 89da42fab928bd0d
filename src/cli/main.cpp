#include <cstdio>
#include <iostream>
#include <new>

#include "cli/app.h"
#include "cli/commands.h"

namespace {

/// True if --json is among the arguments, for errors that come before or while they are parsed.
bool wants_json(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--json") return true;
  }
  return false;
}

/// `code`, unless what was printed can't be written.
int flushed(int code) {
  std::cout.flush();
  return std::cout.good() && std::fflush(stdout) == 0 ? code : hasten::exit_code(hasten::Code::kIo);
}

int run_hasten(int argc, char** argv) {
  using namespace hasten;
  CLI::App cli("hasten: measures, optimizes and proves ONNX models on CPUs", "hasten");
  cli.set_version_flag("--version", "hasten " HASTEN_VERSION);
  cli.require_subcommand(1);
  cli.footer(
      "`hasten VERB --help` tells the options of a verb. A TARGET is MODEL[@key=value,...]:\n"
      "engine=native|onnxruntime|openvino, threads=N, precision=fp32|bf16, math=fast|exact,\n"
      "shape=NAME:1x3x224x224, and options of the engine. MODEL is an .onnx or .hplan file or a "
      "bundle.");
  App app;
  Run run;
#define HASTEN_COMMAND(verb, doc) add_##verb(*cli.add_subcommand(#verb, doc), app, run);
#include "cli/commands.inc"
#undef HASTEN_COMMAND
  try {
    cli.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return flushed(cli.exit(help));
  } catch (const CLI::CallForVersion& version) {
    return flushed(cli.exit(version));
  } catch (const CLI::ParseError& error) {
    app.set_json(wants_json(argc, argv));
    const auto verbs = cli.get_subcommands();
    if (!verbs.empty()) {
      return app.usage(
          fmt::format("{} (hasten {} --help tells more)", error.what(), verbs[0]->get_name()));
    }
    std::string names;
#define HASTEN_COMMAND(verb, doc) names += names.empty() ? #verb : ", " #verb;
#include "cli/commands.inc"
#undef HASTEN_COMMAND
    const std::string_view first = argc > 1 ? argv[1] : "";
    if (first.empty() || first.starts_with('-'))
      return app.usage(fmt::format("a verb is missing: {} (hasten --help tells more)", names));
    return app.usage(
        fmt::format("'{}' is no verb; there are {} (hasten --help tells more)", first, names));
  }
  const Result<int> code = run();
  return code ? *code : app.fail_with(code.error());
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run_hasten(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs("hasten: out of memory\n", stderr);
    return hasten::exit_code(hasten::Code::kOutOfMemory);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "hasten: internal error: %s\n", e.what());
    return hasten::exit_code(hasten::Code::kInternal);
  }
}
