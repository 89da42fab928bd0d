// Indices into an axis: checking them before, at and after a kernel.
#pragma once

#include <atomic>
#include <cstring>

#include "engine/kernels/kernels.h"
#include "engine/ops/op.h"
#include "engine/ops/shape_math.h"

namespace hasten {

/// If the indices and the axis are known: is each in [-dim, dim-1]? Symbol codes pass.
Status check_known_indices(const OpContext& c, const Facts& indices, Dim dim);

/// The indices counted from the front. Error: invalid_model, naming the first outside [-dim,
/// dim-1].
Result<std::vector<int64_t>> read_indices(const OpContext& c, const TensorView& indices,
                                          int64_t dim);

/// Error of one index outside.
tl::unexpected<Error> bad_index(const OpContext& c, int64_t index, int64_t dim);

/// GatherElements and ScatterElements: data and indices of one rank, no more indices than data
/// along the axes other than 'axis', known indices in range.
Status check_along_axis(const OpContext& c, const Facts& data, const Facts& indices);

/// Visits the indices in row-major order: f(position, offset of the element of data that it names).
/// `rows` are the indices counted from the front.
template <class F>
void for_each_along_axis(const Dims& data, const Dims& indices, size_t axis,
                         const std::vector<int64_t>& rows, F&& f) {
  const Dims strides = row_major_strides(data);
  for (size_t i = 0; i < rows.size(); ++i) {
    auto rest = static_cast<int64_t>(i);
    int64_t at = 0;
    for (size_t d = indices.size(); d-- > 0;) {
      at += (d == axis ? rows[i] : rest % indices[d]) * strides[d];
      rest /= indices[d];
    }
    f(static_cast<int64_t>(i), at);
  }
}

/// The kernels' form of it, [outer, axis, inner]; false if indices cover only part of another axis.
bool along_axis_args(const Dims& data, const Dims& indices, size_t axis, const Facts& index_facts,
                     const Facts& data_facts, AxisIndexArgs& args, int64_t& outer);

/// GatherND and ScatterND: which rows of `data` the tuples of `indices` name.
struct TupleIndex {
  int64_t batches = 1, tuples = 0;  // tuples of all batches
  int64_t width = 0;
  Dims dims, strides;  // of the indexed axes; strides in elements
  int64_t row = 1;     // elements
  int64_t batch = 0;   // elements of data per batch
};
TupleIndex tuple_index(const Dims& data, const Dims& indices, int64_t batch_dims);
/// Offset in elements of the row that each tuple names. Error: an index outside its axis.
Result<std::vector<int64_t>> tuple_rows(const OpContext& c, const TupleIndex& t,
                                        const int64_t* indices);
/// Known indices in range? `first` is the axis that the first element of a tuple indexes.
Status check_known_tuples(const OpContext& c, const Facts& indices, std::span<const Dim> axes);
/// The kernels' form; false if there are too many axes.
bool tuple_args(const TupleIndex& t, int64_t element_bytes, TupleIndexArgs& args);

/// Keeps the smallest position + 1 that a kernel reported, so that messages do not depend on
/// threads.
inline void report_fault(const StepArgs& s, int64_t bad) {
  int64_t before = s.fault->load(std::memory_order_relaxed);
  while ((before == 0 || bad < before) && !s.fault->compare_exchange_weak(before, bad)) {
  }
}

/// Copies input 0 to output 0, unless the output took over its memory.
inline void copy_whole(const StepArgs& s, int64_t bytes) {
  if (s.in[0] == s.out[0]) return;
  s.parallel(bytes, 65536, [&](int64_t begin, int64_t end) {
    std::memcpy(s.output<char>(0) + begin, s.input<char>(0) + begin,
                static_cast<size_t>(end - begin));
  });
}

/// An operator that computes with elements of input 0 or 2 can't while they are symbols.
Status check_no_symbols(const RefContext& c, bool computes);

/// Runs a kernel whose args have `bad` (position + 1 of an index outside, or 0) over its items.
template <class Args, class Kernel>
void run_indexed(const StepArgs& s, const Args& args, int64_t items, int64_t grain, Kernel kernel) {
  s.parallel(items, grain, [&](int64_t begin, int64_t end) {
    Args part = args;
    int64_t bad = 0;
    part.bad = &bad;
    kernel(&part, begin, end);
    if (bad != 0) report_fault(s, bad);
  });
}

}  // namespace hasten
