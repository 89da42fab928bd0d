// Machines as JSON, and kept between processes (declared in machine.h).
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/cache_dir.h"
#include "base/mapped_file.h"
#include "measure/machine.h"

namespace hasten {
namespace {

using nlohmann::json;

struct Row {
  const char* name;
  Peak Machine::*peak;
};
constexpr Row kRows[] = {{"fp32_gflops", &Machine::fp32}, {"bf16_gflops", &Machine::bf16},
                         {"int8_gops", &Machine::int8},   {"l1_gbps", &Machine::l1},
                         {"l2_gbps", &Machine::l2},       {"l3_gbps", &Machine::l3},
                         {"dram_gbps", &Machine::dram}};

json number(const std::optional<double>& value) { return value ? json(*value) : json(nullptr); }

}  // namespace

std::string to_json(const Machine& machine) {
  json peaks;
  for (const Row& row : kRows) {
    const Peak& peak = machine.*row.peak;
    peaks[row.name] = {{"one", number(peak.one)}, {"all", number(peak.all)}, {"how", peak.how}};
  }
  json warnings = json::array();
  for (const Warning& w : machine.warnings)
    warnings.push_back({{"what", w.what}, {"why", w.why}, {"next", w.next}});
  const CpuFacts& cpu = machine.cpu;
  const json all = {
      {"fingerprint", machine.fingerprint},
      {"version", machine.version},
      {"isa", machine.isa},
      {"threads", machine.threads},
      {"why", machine.why},
      {"peaks", peaks},
      {"warnings", warnings},
      {"cpu",
       {{"model", cpu.model},
        {"features", cpu.features},
        {"logical_cpus", cpu.logical_cpus},
        {"physical_cores", cpu.physical_cores},
        {"affinity_cpus", cpu.affinity_cpus},
        {"quota_cpus", cpu.quota_cpus},
        {"memory_limit", cpu.memory_limit},
        {"l1d_bytes", cpu.l1d_bytes},
        {"l2_bytes", cpu.l2_bytes},
        {"l3_bytes", cpu.l3_bytes}}},
  };
  // A CPU's name needn't be UTF-8; dump() would throw.
  return all.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

Result<Machine> machine_from_json(const std::string& text) {
  // Exceptions of the JSON library (a missing or mistyped member) stay inside.
  try {
    const json all = json::parse(text);
    Machine machine;
    all.at("fingerprint").get_to(machine.fingerprint);
    all.at("version").get_to(machine.version);
    all.at("isa").get_to(machine.isa);
    all.at("threads").get_to(machine.threads);
    all.at("why").get_to(machine.why);
    for (const Row& row : kRows) {
      const json& peak = all.at("peaks").at(row.name);
      Peak& to = machine.*row.peak;
      peak.at("how").get_to(to.how);
      if (!peak.at("one").is_null()) to.one = peak.at("one").get<double>();
      if (!peak.at("all").is_null()) to.all = peak.at("all").get<double>();
    }
    const json& cpu = all.at("cpu");
    cpu.at("model").get_to(machine.cpu.model);
    cpu.at("features").get_to(machine.cpu.features);
    cpu.at("logical_cpus").get_to(machine.cpu.logical_cpus);
    cpu.at("physical_cores").get_to(machine.cpu.physical_cores);
    cpu.at("affinity_cpus").get_to(machine.cpu.affinity_cpus);
    cpu.at("quota_cpus").get_to(machine.cpu.quota_cpus);
    cpu.at("memory_limit").get_to(machine.cpu.memory_limit);
    cpu.at("l1d_bytes").get_to(machine.cpu.l1d_bytes);
    cpu.at("l2_bytes").get_to(machine.cpu.l2_bytes);
    cpu.at("l3_bytes").get_to(machine.cpu.l3_bytes);
    return machine;
  } catch (const json::exception& e) {
    return fail(Code::kIo, "not a machine file: {}", e.what());
  }
}

Result<Machine> cached_machine(Context& context, const MeasureControl& control, bool again) {
  const ThreadChoice choice = choose_threads(context.cpu());
  const std::string fingerprint = machine_fingerprint(context.cpu(), context.isa(), choice.threads);
  const std::string folder = cache_dir();
  const std::string path = folder + "/machine-" + fingerprint + ".json";
  if (!folder.empty() && !again) {
    if (Result<std::string> text = read_file(path)) {
      Result<Machine> machine = machine_from_json(*text);
      if (machine && machine->fingerprint == fingerprint && plausible(*machine)) {
        // The peaks are what is kept; limits and the reason for the threads are of today.
        machine->cpu = context.cpu();
        machine->why = choice.why;
        return machine;
      }
    }
  }
  HASTEN_TRY(Machine machine, measure_machine(context, control));
  if (!machine.warnings.empty()) {
    context.log().write(LogLevel::kWarning,
                        "the measured peaks are not kept: " + machine.warnings.front().what + ": " +
                            machine.warnings.front().why);
  } else if (!folder.empty()) {
    std::error_code ignored;
    std::filesystem::create_directories(folder, ignored);
    if (Status saved = write_file_atomic(path, to_json(machine)); !saved) {
      context.log().write(LogLevel::kWarning,
                          "the measured peaks are not kept: " + saved.error().message);
    }
  }
  return machine;
}

}  // namespace hasten
