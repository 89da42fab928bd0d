#include "measure/machine.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/cache_dir.h"
#include "engine/kernels/kernels.h"
#include "measure/meter.h"

namespace hasten {
namespace {

Machine sample() {
  Machine machine;
  machine.fingerprint = "0123456789abcdef";
  machine.cpu.model = "Testor 9000";
  machine.cpu.features = {"avx2", "fma"};
  machine.cpu.l1d_bytes = 32768;
  machine.isa = "avx2";
  machine.threads = 2;
  machine.why = "2: because";
  machine.version = "1";
  machine.fp32 = {50, 100, "multiply-adds"};
  machine.bf16 = {{}, {}, "none"};
  machine.dram = {10, 15, "reading"};
  return machine;
}

TEST(Machine, JsonRoundTrip) {
  const Machine before = sample();
  Result<Machine> after = machine_from_json(to_json(before));
  ASSERT_TRUE(after) << after.error().message;
  EXPECT_EQ(to_json(*after), to_json(before));
  EXPECT_EQ(after->fp32.all, 100);
  EXPECT_FALSE(after->bf16.one);
  EXPECT_EQ(after->cpu.features, before.cpu.features);
}

TEST(Machine, BrokenJsonIsAnError) {
  for (const char* text : {"", "{", "[]", "{\"fingerprint\": 3}", "{\"fingerprint\": \"x\"}"}) {
    EXPECT_FALSE(machine_from_json(text)) << text;
  }
}

TEST(Machine, FingerprintTellsMachinesApart) {
  const CpuFacts cpu = sample().cpu;
  CpuFacts other = cpu;
  other.l3_bytes = 1;
  const std::string print = machine_fingerprint(cpu, Isa::kAvx2, 2);
  EXPECT_EQ(print.size(), 16u);
  EXPECT_EQ(print, machine_fingerprint(cpu, Isa::kAvx2, 2));
  EXPECT_NE(print, machine_fingerprint(other, Isa::kAvx2, 2));
  EXPECT_NE(print, machine_fingerprint(cpu, Isa::kScalar, 2));
  EXPECT_NE(print, machine_fingerprint(cpu, Isa::kAvx2, 1));
}

TEST(Machine, PeakBetweenOneAndAllThreads) {
  const Peak peak = {10, 40, ""};
  EXPECT_EQ(peak_for(peak, 1, 4), 10);
  EXPECT_EQ(peak_for(peak, 2, 4), 20);
  EXPECT_EQ(peak_for(peak, 4, 4), 40);
  EXPECT_EQ(peak_for(peak, 9, 4), 40);
  EXPECT_FALSE(peak_for({}, 1, 4));
}

TEST(Machine, Text) {
  const std::string expected =
      "Testor 9000, avx2, 2 threads (2: because)\n"
      "  fp32      50.0 GFLOP/s on one thread,    100.0 on all  (multiply-adds)\n"
      "  bf16         -  (none)\n";
  EXPECT_EQ(text(sample()).substr(0, expected.size()), expected);
}

TEST(PeakKernels, ComputeWhatTheySay) {
  Result<std::unique_ptr<Context>> context = Context::make();
  ASSERT_TRUE(context);
  const KernelTable& kernels = (*context)->kernels();
  // x = x / 2 + 1 settles at 2, whatever it began with: 16 lanes of ten chains, or of one.
  float out = 0;
  const PeakFmaArgs fma{0.5f, 1.0f, &out};
  kernels.peak_fma_f32(&fma, 0, 100);
  EXPECT_EQ(std::fmod(out, 32.0f), 0);
  EXPECT_GE(out, 32);
  std::vector<float> data(4 * kPeakReadItem, 1.0f);
  const PeakReadArgs read{data.data(), 3, &out};
  kernels.peak_read(&read, 1, 4);
  EXPECT_EQ(out, 3.0f * 3 * kPeakReadItem);
}

TEST(Machine, PeaksOfCoresHeldBackAreNotBelieved) {
  Machine machine;
  machine.threads = 2;
  EXPECT_TRUE(plausible(machine)) << "nothing measured, nothing doubted";
  machine.fp32 = {100, 100, ""};
  EXPECT_FALSE(plausible(machine));
  machine.fp32.all = 190;
  EXPECT_TRUE(plausible(machine));
  machine.threads = 1;
  machine.fp32.all = 100;
  EXPECT_TRUE(plausible(machine));
}

TEST(Machine, MeasuredOnceAndKept) {
  std::string folder = std::filesystem::temp_directory_path() / "hasten-machine-XXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const char* before = std::getenv("HASTEN_CACHE");
  const std::string saved = before ? before : "";
  setenv("HASTEN_CACHE", (folder + "/new").c_str(), 1);
  EXPECT_EQ(cache_dir(), folder + "/new");

  Result<std::unique_ptr<Context>> context = Context::make();
  ASSERT_TRUE(context);
  Result<Machine> first = cached_machine(**context);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_GT(first->fp32.one.value_or(0), 0);
  EXPECT_GT(first->dram.all.value_or(0), 0);
  // Kept unless others disturbed it, which then is said.
  const std::string path = folder + "/new/machine-" + first->fingerprint + ".json";
  EXPECT_EQ(std::filesystem::exists(path), first->warnings.empty());

  Machine kept = *first;
  kept.fp32 = {12.5, 12.5 * kept.threads, "told"};
  kept.l1 = {100, 100.0 * kept.threads, "told"};  // measured on a busy machine: not plausible
  kept.warnings.clear();
  std::filesystem::create_directories(folder + "/new");
  std::ofstream(path) << to_json(kept);
  Result<Machine> second = cached_machine(**context);
  ASSERT_TRUE(second);
  EXPECT_EQ(to_json(*second), to_json(kept));  // read, not measured again

  // A broken file is measured anew.
  std::ofstream(path) << "{";
  Result<Machine> third = cached_machine(**context);
  ASSERT_TRUE(third);
  EXPECT_NE(third->fp32.one, 12.5);

  std::atomic<bool> stop{true};
  MeasureControl control;
  control.stop = &stop;
  Result<Machine> cancelled = measure_machine(**context, control);
  ASSERT_FALSE(cancelled);
  EXPECT_EQ(cancelled.error().code, Code::kCancelled);

  before ? setenv("HASTEN_CACHE", saved.c_str(), 1) : unsetenv("HASTEN_CACHE");
  std::filesystem::remove_all(folder);
}

TEST(ReadSizes, LieInsideTheirLevel) {
  CpuFacts cpu;
  cpu.l2_bytes = 1 << 20;
  cpu.l3_bytes = 32 << 20;
  const ReadSizes one = read_sizes(cpu, 1), two = read_sizes(cpu, 2);
  EXPECT_LT(one.l2, cpu.l2_bytes);
  EXPECT_GT(one.l3, cpu.l2_bytes);
  EXPECT_LT(one.l3, cpu.l3_bytes);
  EXPECT_EQ(two.l3 * 2, one.l3) << "it is shared";
  EXPECT_GE(one.dram, 2 * cpu.l3_bytes);
  cpu.l3_bytes = 4 << 20;
  EXPECT_EQ(read_sizes(cpu, 1).l3, 0) << "a quarter of it is no larger than L2";
}

}  // namespace
}  // namespace hasten
