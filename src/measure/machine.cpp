#include "measure/machine.h"

#include <algorithm>
#include <span>

#include "base/clock.h"
#include "base/mapped_file.h"
#include "engine/kernels/kernels.h"
#include "measure/dot_peaks.h"
#include "measure/meter.h"

namespace hasten {
namespace {

constexpr int kMethod = 1;  // changes when the figures would: part of the fingerprint

constexpr double kSeconds = 0.08;  // a rate

/// The rates of one thread and of all together; measure(threads) gives one.
template <class F>
Peak peak(int threads, std::string how, const F& measure) {
  Peak peak = {measure(1), {}, std::move(how)};
  peak.all = threads > 1 ? std::max(measure(threads), *peak.one) : *peak.one;
  return peak;
}

Peak dot_peak(Meter& meter, int threads, const DotPeak& dot) {
  if (dot.name == nullptr) return {{}, {}, dot.why_not};
  return peak(threads, fmt::format("dot products in registers, {}", dot.name),
              [&](int n) { return meter.dot(n, dot); });
}

/// Each thread reads `bytes` of its own, again and again; one thread alone reads `alone` bytes.
Peak read_peak(Meter& meter, int threads, const char* level, int64_t bytes, int64_t alone = 0) {
  if (bytes <= 0) return {{}, {}, fmt::format("the size of {} is unknown", level)};
  if (alone <= 0) alone = bytes;
  const ReadBuffer buffer(std::max(Meter::read_bytes(threads, bytes), Meter::read_bytes(1, alone)));
  if (buffer.data() == nullptr) {
    return {{}, {}, fmt::format("no memory for a buffer of {} bytes", buffer.bytes())};
  }
  return peak(threads, fmt::format("reading {} KB a thread", bytes / 1024),
              [&](int n) { return meter.read(n, buffer, n == 1 ? alone : bytes); });
}

}  // namespace

std::string machine_fingerprint(const CpuFacts& cpu, Isa isa, int threads) {
  std::string all = fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}", cpu.model,
                                fmt::join(cpu.features, " "), cpu.l1d_bytes, cpu.l2_bytes,
                                cpu.l3_bytes, isa_name(isa), threads, HASTEN_VERSION, kMethod);
  return hash_hex(std::as_bytes(std::span(all))).substr(0, 16);
}

Result<Machine> measure_machine(Context& context, const MeasureControl& control) {
  Machine machine;
  machine.cpu = context.cpu();
  machine.isa = isa_name(context.isa());
  const ThreadChoice choice = choose_threads(machine.cpu);
  machine.threads = choice.threads;
  machine.why = choice.why;
  machine.version = HASTEN_VERSION;
  machine.fingerprint = machine_fingerprint(machine.cpu, context.isa(), choice.threads);

  const CpuFacts& cpu = machine.cpu;
  const SystemSample before = read_system();
  Meter meter(context, control, kSeconds);
  const int threads = choice.threads;
  const ReadSizes sizes = read_sizes(cpu, threads);
  struct Stage {
    const char* name;
    Peak* peak;
    std::function<Peak()> measure;
  } stages[] = {
      {"fp32", &machine.fp32,
       [&] {
         return peak(threads, fmt::format("multiply-adds in registers, {}", context.kernels().isa),
                     [&](int n) { return meter.fp32(n); });
       }},
      {"bf16", &machine.bf16, [&] { return dot_peak(meter, threads, bf16_dot_peak()); }},
      {"int8", &machine.int8, [&] { return dot_peak(meter, threads, int8_dot_peak()); }},
      {"L1", &machine.l1, [&] { return read_peak(meter, threads, "L1", cpu.l1d_bytes / 2); }},
      {"L2", &machine.l2, [&] { return read_peak(meter, threads, "L2", sizes.l2); }},
      {"L3", &machine.l3,
       [&]() -> Peak {
         if (cpu.l3_bytes > 0 && sizes.l3 == 0) {
           return {{}, {}, "a thread's share of L3 is hardly larger than L2"};
         }
         return read_peak(meter, threads, "L3", sizes.l3);
       }},
      {"DRAM", &machine.dram,
       [&] { return read_peak(meter, threads, "DRAM", sizes.dram, read_sizes(cpu, 1).dram); }},
  };
  const int64_t begin = now_ns();
  double done = 0;
  for (Stage& stage : stages) {
    if (control.progress) {
      control.progress({stage.name, static_cast<int64_t>(done),
                        static_cast<double>(now_ns() - begin) * 1e-9, done / std::size(stages)});
    }
    *stage.peak = stage.measure();
    if (control.stopped()) return fail(Code::kCancelled, "interrupted while measuring the machine");
    ++done;
  }
  machine.warnings = disturbances(before, read_system());
  for (int again = 0; again < 3 && !plausible(machine) && !control.stopped(); ++again)
    for (size_t i : {0, 3}) *stages[i].peak = stages[i].measure();  // fp32 and L1
  if (!plausible(machine)) {
    machine.warnings.push_back(
        {"cores held back",
         fmt::format("{} threads together reached {:.1f} GFLOP/s and {:.1f} GB/s in L1, one alone "
                     "{:.1f} and {:.1f}",
                     machine.threads, machine.fp32.all.value_or(0), machine.l1.all.value_or(0),
                     machine.fp32.one.value_or(0), machine.l1.one.value_or(0)),
         "measure again on a quiet machine (hasten machine --again)"});
  }
  return machine;
}

bool plausible(const Machine& machine) {
  const auto scales = [&machine](const Peak& peak) {
    return machine.threads < 2 || !peak.one || !peak.all ||
           *peak.all >= *peak.one * (1 + 0.4 * (machine.threads - 1));
  };
  return scales(machine.fp32) && scales(machine.l1);
}

std::optional<double> peak_for(const Peak& peak, int threads, int all_threads) {
  if (!peak.one || !peak.all) return {};
  if (threads <= 1 || all_threads <= 1) return peak.one;
  const double part = static_cast<double>(std::min(threads, all_threads) - 1) /
                      static_cast<double>(all_threads - 1);
  return *peak.one + (*peak.all - *peak.one) * part;
}

std::string text(const Machine& machine) {
  std::string out = fmt::format("{}, {}, {} threads ({})\n", machine.cpu.model, machine.isa,
                                machine.threads, machine.why);
  auto line = [&](const char* name, const Peak& peak, const char* unit) {
    if (peak.one && peak.all) {
      out += fmt::format("  {:<5} {:>8.1f} {} on one thread, {:>8.1f} on all  ({})\n", name,
                         *peak.one, unit, *peak.all, peak.how);
    } else {
      out += fmt::format("  {:<5}        -  ({})\n", name, peak.how);
    }
  };
  line("fp32", machine.fp32, "GFLOP/s");
  line("bf16", machine.bf16, "GFLOP/s");
  line("int8", machine.int8, "GOP/s  ");
  line("L1", machine.l1, "GB/s   ");
  line("L2", machine.l2, "GB/s   ");
  line("L3", machine.l3, "GB/s   ");
  line("DRAM", machine.dram, "GB/s   ");
  for (const Warning& w : machine.warnings) {
    out += fmt::format("warning: {}: {}; {}\n", w.what, w.why, w.next);
  }
  return out;
}

}  // namespace hasten
