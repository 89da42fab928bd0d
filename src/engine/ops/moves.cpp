#include "engine/ops/moves.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "engine/ops/shape_math.h"

namespace hasten {

namespace {

constexpr int64_t kGrainBytes = 32768;  // what a thread should at least move

}  // namespace

void copy_block(DType dtype, const void* in, void* out, const StridedBlock& block) {
  const int64_t n = count_of(block.dims);
  dispatch_bits(dtype, [&](auto zero) {
    using T = decltype(zero);
    const T* from = static_cast<const T*>(in);
    T* to = static_cast<T*>(out);
    Dims at(block.dims.size(), 0);
    int64_t i = block.in_start, o = block.out_start;
    for (int64_t k = 0; k < n; ++k) {
      to[o] = from[i];
      for (size_t d = at.size(); d-- > 0;) {
        i += block.in_strides[d];
        o += block.out_strides[d];
        if (++at[d] < block.dims[d]) break;
        i -= block.in_strides[d] * block.dims[d];
        o -= block.out_strides[d] * block.dims[d];
        at[d] = 0;
      }
    }
  });
}

AxisMap identity_map(int64_t n) {
  AxisMap map(static_cast<size_t>(n));
  std::iota(map.begin(), map.end(), int64_t{0});
  return map;
}

void map_block(DType dtype, const void* in, std::span<const int64_t> in_dims,
               std::span<const AxisMap> maps, const void* fill, void* out) {
  Dims out_dims;
  for (const AxisMap& map : maps) out_dims.push_back(static_cast<int64_t>(map.size()));
  const int64_t n = count_of(out_dims);
  const Dims strides = row_major_strides(in_dims);
  dispatch_bits(dtype, [&](auto zero) {
    using T = decltype(zero);
    const T* from = static_cast<const T*>(in);
    T* to = static_cast<T*>(out);
    for (int64_t k = 0; k < n; ++k) {
      int64_t rest = k, source = 0;
      bool filled = false;
      for (size_t d = maps.size(); d-- > 0;) {
        const int64_t at = maps[d][static_cast<size_t>(rest % out_dims[d])];
        rest /= out_dims[d];
        filled |= at == kFill;
        source += at * strides[d];
      }
      to[k] = filled ? *static_cast<const T*>(fill) : from[source];
    }
  });
}

StoredDims storage_of(const Facts& facts) {
  StoredDims s{to_dims(facts.shape), static_cast<int64_t>(dtype_size(facts.dtype))};
  if (facts.layout == Layout::kNchw16c) {
    s.dims[1] = (s.dims[1] + 15) / 16;
    s.element_bytes *= 16;
  }
  return s;
}

bool plain_numbers(LowerContext& c, const char* kernel) {
  const auto fits = [&](const Facts& f) {
    if (f.dtype == DType::kString) {
      c.refuse(kernel, "strings");
    } else if (f.layout != Layout::kPlain) {
      c.refuse(kernel, fmt::format("layout {}", layout_name(f.layout)));
    } else {
      return true;
    }
    return false;
  };
  for (size_t i = 0; i < c.inputs(); ++i) {
    if (c.has_in(i) && !fits(c.in(i))) return false;
  }
  for (size_t i = 0; i < c.outputs(); ++i) {
    if (c.has_out(i) && !fits(c.out(i))) return false;
  }
  return true;
}

namespace {

struct Axis {
  int64_t dim, in, out;  // strides in bytes
};

/// Fewest axes for the same block; those of one element go.
std::vector<Axis> merge(const StridedBlock& block, int64_t element_bytes) {
  std::vector<Axis> axes;
  for (size_t d = 0; d < block.dims.size(); ++d) {
    if (block.dims[d] == 1) continue;
    const Axis next{block.dims[d], block.in_strides[d] * element_bytes,
                    block.out_strides[d] * element_bytes};
    if (!axes.empty()) {
      Axis& last = axes.back();
      if (last.in == next.in * next.dim && last.out == next.out * next.dim) {
        last = {last.dim * next.dim, next.in, next.out};
        continue;
      }
    }
    axes.push_back(next);
  }
  return axes;
}

}  // namespace

void CopyPlan::add(size_t in, size_t out, const StridedBlock& block, int64_t element_bytes) {
  if (count_of(block.dims) == 0) return;
  std::vector<Axis> axes = merge(block, element_bytes);
  int64_t size = element_bytes;
  // A short run that is contiguous on both sides travels as one element.
  constexpr int64_t kElementLimit = 1024;
  if (!axes.empty() && axes.back().in == size && axes.back().out == size &&
      axes.back().dim * size <= kElementLimit) {
    size *= axes.back().dim;
    axes.pop_back();
  }
  bool transpose = false;
  if (axes.size() >= 2 && size <= 8 && axes.back().out == size && axes.back().in != size &&
      axes.back().in != 0) {
    // Rows of `in` that run along another axis than those of `out`: that axis goes last but one.
    const auto rows =
        std::find_if(axes.begin(), axes.end() - 1, [&](const Axis& a) { return a.in == size; });
    if (rows != axes.end() - 1 && (size & (size - 1)) == 0) {
      std::rotate(rows, rows + 1, axes.end() - 1);
      transpose = true;
    }
  }
  if (axes.empty()) axes.push_back({1, size, size});
  if (axes.size() > kMaxCopyRank) {
    too_many_dims_ = true;
    return;
  }
  Draft draft{};
  draft.args.size = size;
  draft.args.rank = static_cast<int64_t>(axes.size());
  for (size_t d = 0; d < axes.size(); ++d) {
    draft.args.dims[d] = axes[d].dim;
    draft.args.in_strides[d] = axes[d].in;
    draft.args.out_strides[d] = axes[d].out;
  }
  draft.transpose = transpose;
  draft.in = in;
  draft.out = out;
  draft.in_offset = block.in_start * element_bytes;
  draft.out_offset = block.out_start * element_bytes;
  drafts_.push_back(draft);
}

void CopyPlan::add_fill(const void* element, int64_t element_bytes, size_t out, int64_t count) {
  std::memcpy(element_.data(), element, static_cast<size_t>(element_bytes));
  add(kElement, out, {{count}, {0}, {1}}, element_bytes);
}

void CopyPlan::lower(LowerContext& c) {
  if (too_many_dims_) {
    c.refuse("copy", fmt::format("more than {} dimensions that can't be merged", kMaxCopyRank));
    return;
  }
  auto state = std::make_shared<State>();
  state->element = element_;
  bool transposes = false;
  int64_t item_bytes = INT64_MAX;
  for (const Draft& draft : drafts_) {
    Part part{};
    part.kernel = draft.transpose ? c.kernels().transpose : c.kernels().copy;
    part.args = draft.args;
    part.first = state->items;
    part.items = draft.transpose
                     ? transpose_items(&draft.args)
                     : count_of({draft.args.dims, static_cast<size_t>(draft.args.rank)});
    part.in = draft.in;
    part.out = draft.out;
    part.in_offset = draft.in_offset;
    part.out_offset = draft.out_offset;
    const int64_t tile_bytes =
        kTransposeLine * std::min(kTransposeColumns, draft.args.dims[draft.args.rank - 1]);
    item_bytes = std::min(item_bytes, draft.transpose ? tile_bytes : draft.args.size);
    transposes |= draft.transpose;
    state->items += part.items;
    state->parts.push_back(part);
  }
  state->grain = std::max<int64_t>(1, kGrainBytes / item_bytes);
  c.take(transposes ? "transpose" : "copy",
         [state = std::shared_ptr<const State>(std::move(state))](const StepArgs& s) {
           s.parallel(state->items, state->grain, [&](int64_t begin, int64_t end) {
             for (const Part& part : state->parts) {
               const int64_t from = std::max(begin, part.first) - part.first;
               const int64_t to = std::min(end - part.first, part.items);
               if (from >= to) continue;
               CopyArgs args = part.args;
               args.in = part.in == kElement ? state->element.data()
                                             : s.input<char>(part.in) + part.in_offset;
               args.out = s.output<char>(part.out) + part.out_offset;
               part.kernel(&args, from, to);
             }
           });
         });
}

namespace {

bool is_identity(const AxisMap& map, int64_t in_dim) {
  if (static_cast<int64_t>(map.size()) != in_dim) return false;
  for (size_t i = 0; i < map.size(); ++i) {
    if (map[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

/// The last axis as runs; `step` is the distance of neighbours in bytes.
std::vector<MapRun> runs_of(const AxisMap& map, int64_t step) {
  constexpr int64_t kShort = 8;  // shorter runs go by the table
  std::vector<MapRun> runs;
  const auto n = static_cast<int64_t>(map.size());
  for (int64_t i = 0; i < n;) {
    const int64_t source = map[static_cast<size_t>(i)];
    int64_t j = i + 1;
    int64_t kind = 3;
    if (source == kFill) {
      kind = 1;
      while (j < n && map[static_cast<size_t>(j)] == kFill) ++j;
    } else {
      int64_t near = j, same = j;
      while (near < n && map[static_cast<size_t>(near)] == source + near - i) ++near;
      while (same < n && map[static_cast<size_t>(same)] == source) ++same;
      if (near - i >= kShort || (near == n && i == 0)) {
        kind = 0;
        j = near;
      } else if (same - i >= kShort) {
        kind = 2;
        j = same;
      }
    }
    if (kind == 3 && !runs.empty() && runs.back().kind == 3) {
      ++runs.back().count;
    } else {
      runs.push_back({i, j - i, source == kFill ? 0 : source * step, kind});
    }
    i = j;
  }
  return runs;
}

struct MapState {
  MapArgs args{};
  std::vector<std::vector<int64_t>> tables;
  std::vector<MapRun> runs;
  std::vector<char> fill;
  int64_t rows = 1, grain = 1;
};

}  // namespace

void lower_map(LowerContext& c, const StoredDims& in, std::vector<AxisMap> maps, const void* fill) {
  Dims dims = in.dims;
  // What moves whole becomes part of the element (behind) or one axis (in front).
  int64_t size = in.element_bytes;
  while (!maps.empty() && is_identity(maps.back(), dims.back())) {
    size *= dims.back();
    maps.pop_back();
    dims.pop_back();
  }
  for (size_t d = 0; d + 1 < maps.size();) {
    if (!is_identity(maps[d], dims[d]) || !is_identity(maps[d + 1], dims[d + 1])) {
      ++d;
      continue;
    }
    dims[d] *= dims[d + 1];
    dims.erase(dims.begin() + static_cast<ptrdiff_t>(d) + 1);
    maps.erase(maps.begin() + static_cast<ptrdiff_t>(d) + 1);
    maps[d] = identity_map(dims[d]);
  }
  if (maps.empty()) {
    CopyPlan plan;
    plan.add(0, 0, {{size / std::max<int64_t>(1, in.element_bytes)}, {1}, {1}}, in.element_bytes);
    return plan.lower(c);
  }
  if (maps.size() > kMaxCopyRank) {
    return c.refuse("map_axes",
                    fmt::format("more than {} dimensions that can't be merged", kMaxCopyRank));
  }
  auto state = std::make_shared<MapState>();
  const size_t rank = maps.size();
  int64_t step = size;
  state->tables.resize(rank);
  for (size_t d = rank; d-- > 0;) {
    for (int64_t source : maps[d]) {
      state->tables[d].push_back(source == kFill ? kMapFill : source * step);
    }
    if (d + 1 == rank) {
      state->runs = runs_of(maps[d], step);
    } else {
      state->rows *= static_cast<int64_t>(maps[d].size());
    }
    state->args.dims[d] = static_cast<int64_t>(maps[d].size());
    state->args.tables[d] = state->tables[d].data();
    step *= dims[d];
  }
  // The element may have grown by what moves whole; so does the fill.
  state->fill.resize(static_cast<size_t>(size));
  for (int64_t i = 0; fill != nullptr && i < size; i += in.element_bytes) {
    std::memcpy(state->fill.data() + i, fill, static_cast<size_t>(in.element_bytes));
  }
  state->args.size = size;
  state->args.rank = static_cast<int64_t>(rank);
  state->args.fill = state->fill.data();
  state->args.runs = state->runs.data();
  state->args.run_count = static_cast<int64_t>(state->runs.size());
  const int64_t row_bytes = std::max<int64_t>(1, state->args.dims[rank - 1] * size);
  state->grain = std::max<int64_t>(1, kGrainBytes / row_bytes);
  if (size == 0) state->rows = 0;
  c.take("map_axes", [state = std::shared_ptr<const MapState>(std::move(state)),
                      kernel = c.kernels().map_axes](const StepArgs& s) {
    MapArgs args = state->args;
    args.in = s.input<char>(0);
    args.out = s.output<char>(0);
    s.parallel(state->rows, state->grain,
               [&](int64_t begin, int64_t end) { kernel(&args, begin, end); });
  });
}

}  // namespace hasten
