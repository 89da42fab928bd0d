#include "measure/meter.h"

#include <sys/mman.h>

#include <algorithm>

#include "base/clock.h"
#include "base/thread_pool.h"
#include "engine/kernels/kernels.h"

namespace hasten {
namespace {

/// Items of kPeakReadItem floats in so many bytes.
int64_t whole_items(int64_t bytes) { return std::max<int64_t>(1, bytes / (kPeakReadItem * 4)); }

}  // namespace

ReadBuffer::ReadBuffer(int64_t bytes) : bytes_(bytes) {
  const auto size = static_cast<size_t>(bytes);
  void* p = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return;
  data_ = static_cast<float*>(p);
  madvise(p, size, MADV_HUGEPAGE);
  // Written, or every page would be the one zero page, read from the first cache.
  std::fill_n(data_, size / sizeof(float), 1.0f);
}

ReadBuffer::~ReadBuffer() {
  if (data_ != nullptr) munmap(data_, static_cast<size_t>(bytes_));
}

ReadSizes read_sizes(const CpuFacts& cpu, int threads) {
  ReadSizes sizes;
  sizes.l2 = cpu.l2_bytes / 2;
  sizes.l3 = cpu.l3_bytes / 4 / threads;
  if (sizes.l3 < 2 * cpu.l2_bytes) sizes.l3 = 0;
  sizes.dram =
      std::clamp<int64_t>(2 * std::max(cpu.l3_bytes, cpu.l2_bytes), 64 << 20, 512 << 20) / threads;
  return sizes;
}

void Meter::on_threads(int threads, const std::function<void(int64_t)>& body) {
  ThreadPool* pool = threads > 1 ? context_.pool(threads) : nullptr;
  if (pool == nullptr) return body(0);
  pool->parallel(threads, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) body(i);
  });
}

double Meter::rate(int threads, double work, const std::function<void(int64_t)>& body) {
  double best = 1e30;
  const int64_t begin = now_ns();
  for (int i = 0; i < 3 || static_cast<double>(now_ns() - begin) * 1e-9 < budget_s_; ++i) {
    const int64_t t = now_ns();
    on_threads(threads, body);
    best = std::min(best, static_cast<double>(now_ns() - t) * 1e-9);
    if (control_.stopped()) break;
  }
  return work * threads / best * 1e-9;
}

double Meter::fp32(int threads) {
  constexpr int64_t kItems = 20'000;  // about a millisecond on a fast tier
  // The scalar tier is a hundred times slower.
  const int64_t items = context_.isa() == Isa::kScalar ? kItems / 50 : kItems;
  return rate(threads, 2.0 * kPeakFmaPerItem * static_cast<double>(items), [&](int64_t) {
    float out;
    const PeakFmaArgs args{0.5f, 1.0f, &out};
    context_.kernels().peak_fma_f32(&args, 0, items);
  });
}

double Meter::dot(int threads, const DotPeak& dot) {
  constexpr int64_t kItems = 40'000;
  return rate(threads, dot.operations * kItems, [&](int64_t) {
    int32_t out = 0x3f003f00;
    dot.run(kItems, &out);
  });
}

int64_t Meter::read_bytes(int threads, int64_t bytes_each) {
  return threads * whole_items(bytes_each) * kPeakReadItem * 4;
}

void Meter::sweep(int threads, const ReadBuffer& buffer) {
  const int64_t items = whole_items(buffer.bytes() / threads);
  on_threads(threads, [&](int64_t thread) {
    float out;
    const PeakReadArgs args{buffer.data() + thread * items * kPeakReadItem, 1, &out};
    context_.kernels().peak_read(&args, 0, items);
  });
}

double Meter::read(int threads, const ReadBuffer& buffer, int64_t bytes_each) {
  const int64_t items = whole_items(bytes_each), size = items * kPeakReadItem * 4;
  // About half a millisecond a trial: long against waking a thread, short against a time slice.
  const int64_t rounds = std::max<int64_t>(1, (32 << 20) / size);
  return rate(threads, static_cast<double>(size * rounds), [&](int64_t thread) {
    float out;
    const PeakReadArgs args{buffer.data() + thread * items * kPeakReadItem, rounds, &out};
    context_.kernels().peak_read(&args, 0, items);
  });
}

}  // namespace hasten
