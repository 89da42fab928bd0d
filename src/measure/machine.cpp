#include "measure/machine.h"

#include <sys/mman.h>

#include <algorithm>
#include <span>

#include "base/clock.h"
#include "base/mapped_file.h"
#include "base/thread_pool.h"
#include "engine/kernels/kernels.h"
#include "measure/dot_peaks.h"

namespace hasten {
namespace {

constexpr int kMethod = 1;  // changes when the figures would: part of the fingerprint

/// Zeroed memory straight from the system, or nothing.
class Buffer {
 public:
  explicit Buffer(int64_t bytes) : bytes_(static_cast<size_t>(bytes)) {
    void* p = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) return;
    data_ = static_cast<float*>(p);
    madvise(p, bytes_, MADV_HUGEPAGE);
    // Written, or every page would be the one zero page, read from the first cache.
    std::fill_n(data_, bytes_ / sizeof(float), 1.0f);
  }
  ~Buffer() {
    if (data_ != nullptr) munmap(data_, bytes_);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  const float* data() const { return data_; }

 private:
  float* data_ = nullptr;
  size_t bytes_;
};

/// Seconds of the quickest of many calls, over at most `budget_s` (but at least three calls).
template <class F>
double best_seconds(const MeasureControl& control, double budget_s, const F& call) {
  double best = 1e30;
  const int64_t begin = now_ns();
  for (int i = 0; i < 3 || static_cast<double>(now_ns() - begin) * 1e-9 < budget_s; ++i) {
    const int64_t t = now_ns();
    call();
    best = std::min(best, static_cast<double>(now_ns() - t) * 1e-9);
    if (control.stopped()) break;
  }
  return best;
}

class Meter {
 public:
  Meter(Context& context, int threads, const MeasureControl& control)
      : context_(context), threads_(threads), control_(control) {}

  /// body(thread) on `threads` threads at once.
  template <class F>
  void on_threads(int threads, const F& body) {
    ThreadPool* pool = threads > 1 ? context_.pool(threads) : nullptr;
    if (pool == nullptr) return body(0);
    pool->parallel(threads, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) body(i);
    });
  }

  /// The best rate of `threads` threads; body(thread) does `work` operations.
  template <class F>
  double rate(int threads, double work, const F& body) {
    const double s = best_seconds(control_, 0.08, [&] { on_threads(threads, body); });
    return work * threads / s * 1e-9;
  }
  template <class F>
  Peak peak(double work, std::string how, const F& body) {
    Peak peak = {rate(1, work, body), {}, std::move(how)};
    peak.all = threads_ > 1 ? std::max(rate(threads_, work, body), *peak.one) : *peak.one;
    return peak;
  }

  Peak fp32() {
    constexpr int64_t kItems = 20'000;  // about a millisecond on a fast tier
    const KernelTable& kernels = context_.kernels();
    // The scalar tier is a hundred times slower.
    const int64_t items = context_.isa() == Isa::kScalar ? kItems / 50 : kItems;
    return peak(2.0 * kPeakFmaPerItem * static_cast<double>(items),
                fmt::format("multiply-adds in registers, {}", kernels.isa), [&](int64_t) {
                  float out;
                  const PeakFmaArgs args{0.5f, 1.0f, &out};
                  kernels.peak_fma_f32(&args, 0, items);
                });
  }

  Peak dot(const DotPeak& dot) {
    if (dot.name == nullptr) return {{}, {}, dot.why_not};
    constexpr int64_t kItems = 40'000;
    return peak(dot.operations * kItems, fmt::format("dot products in registers, {}", dot.name),
                [&](int64_t) {
                  int32_t out = 0x3f003f00;
                  dot.run(kItems, &out);
                });
  }

  /// Each thread reads `bytes` of its own, again and again; one thread alone reads `alone` bytes.
  Peak read(const char* level, int64_t bytes, int64_t alone = 0) {
    if (bytes <= 0) return {{}, {}, fmt::format("the size of {} is unknown", level)};
    auto whole = [](int64_t n) { return std::max<int64_t>(1, n / (kPeakReadItem * 4)); };
    const int64_t items = whole(bytes), alone_items = alone > 0 ? whole(alone) : items;
    const int64_t all_bytes = std::max(items * threads_, alone_items) * kPeakReadItem * 4;
    const Buffer buffer(all_bytes);
    if (buffer.data() == nullptr) {
      return {{}, {}, fmt::format("no memory for a buffer of {} bytes", all_bytes)};
    }
    auto measure = [&](int threads, int64_t each) {
      const int64_t size = each * kPeakReadItem * 4;
      // About half a millisecond a trial: long against waking a thread, short against a time slice.
      const int64_t rounds = std::max<int64_t>(1, (32 << 20) / size);
      return rate(threads, static_cast<double>(size * rounds), [&](int64_t thread) {
        float out;
        const PeakReadArgs args{buffer.data() + thread * each * kPeakReadItem, rounds, &out};
        context_.kernels().peak_read(&args, 0, each);
      });
    };
    Peak peak = {measure(1, alone_items), {}, fmt::format("reading {} KB a thread", bytes / 1024)};
    peak.all = threads_ > 1 ? std::max(measure(threads_, items), *peak.one) : *peak.one;
    return peak;
  }

 private:
  Context& context_;
  int threads_;
  const MeasureControl& control_;
};

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
  Meter meter(context, choice.threads, control);
  // Buffers well inside a level and well beyond the one before; the last level is shared by the
  // threads (and with whoever else lives on the machine, so a quarter of it is ours at most).
  const int64_t l3_share = cpu.l3_bytes / 4 / choice.threads;
  const int64_t beyond =
      std::clamp<int64_t>(2 * std::max(cpu.l3_bytes, cpu.l2_bytes), 64 << 20, 512 << 20);
  struct Stage {
    const char* name;
    Peak* peak;
    std::function<Peak()> measure;
  } stages[] = {
      {"fp32", &machine.fp32, [&] { return meter.fp32(); }},
      {"bf16", &machine.bf16, [&] { return meter.dot(bf16_dot_peak()); }},
      {"int8", &machine.int8, [&] { return meter.dot(int8_dot_peak()); }},
      {"L1", &machine.l1, [&] { return meter.read("L1", cpu.l1d_bytes / 2); }},
      {"L2", &machine.l2, [&] { return meter.read("L2", cpu.l2_bytes / 2); }},
      {"L3", &machine.l3,
       [&]() -> Peak {
         if (cpu.l3_bytes > 0 && l3_share < 2 * cpu.l2_bytes) {
           return {{}, {}, "a thread's share of L3 is hardly larger than L2"};
         }
         return meter.read("L3", l3_share);
       }},
      {"DRAM", &machine.dram, [&] { return meter.read("DRAM", beyond / choice.threads, beyond); }},
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
