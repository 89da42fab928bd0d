#include <cstdio>
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
    return cli.exit(help);
  } catch (const CLI::CallForVersion& version) {
    return cli.exit(version);
  } catch (const CLI::ParseError& error) {
    app.set_json(wants_json(argc, argv));
    return app.usage(fmt::format("{} (hasten --help tells more)", error.what()));
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
