// Declares the function of each verb that commands.inc lists.
#pragma once

#include "cli/app.h"

namespace hasten {

#define HASTEN_COMMAND(verb, doc) void add_##verb(CLI::App& cli, App& app, Run& run);
#include "cli/commands.inc"
#undef HASTEN_COMMAND

}  // namespace hasten
