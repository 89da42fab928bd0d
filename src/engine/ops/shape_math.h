// Axes, integer operands and symbolic sizes: what operators need to find their output shapes.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "engine/ops/op.h"

namespace hasten {

/// `axis` in [-rank, rank-1], counted from the front. Error: invalid_model.
Result<size_t> resolve_axis(const OpContext& c, int64_t axis, size_t rank);
/// The same for a list, in which no axis may appear twice.
Result<std::vector<size_t>> resolve_axes(const OpContext& c, std::span<const int64_t> axes,
                                         size_t rank);

/// Does any element stand for a symbol (see Dim::is_symbol_code)?
bool has_symbols(std::span<const int64_t> values);
/// The elements of an int32 or int64 tensor.
std::vector<int64_t> read_ints(const TensorView& tensor);
/// The same of a value, if they are known.
std::optional<std::vector<int64_t>> known_ints(const Facts& facts);
/// Is the operand int64 (or int32 where `allow_i32`), as far as known? `what` names it in the
/// error.
Status check_int_operand(const OpContext& c, const Facts& operand, const char* what,
                         bool allow_i32 = true);
/// check_int_operand, and has it one dimension?
Status check_int_list(const OpContext& c, const Facts& operand, const char* what,
                      bool allow_i32 = true);
/// How many elements a one-dimensional operand has, if known.
std::optional<int64_t> list_length(const Facts& operand);

/// Sets an output whose dims follow from attributes or elements, which may ask for anything: what
/// is known of them must be a size that can be counted. Error: invalid_model.
Status set_checked(InferContext& c, size_t output, DType dtype, Shape shape);

/// Product of dims: a number, the symbol if there is just one and all else is 1, or a fresh symbol.
/// Error: invalid_model when the number does not fit.
Result<Dim> dim_product(const OpContext& c, std::span<const Dim> dims);
/// Sum of two dims, likewise.
Result<Dim> dim_sum(const OpContext& c, Dim a, Dim b);
/// d * factor, likewise; factor >= 0.
Result<Dim> dim_times(const OpContext& c, Dim d, int64_t factor);
/// `rank` fresh symbols.
Shape fresh_shape(size_t rank);

/// Distance in elements between neighbours along each axis of a dense tensor.
Dims row_major_strides(std::span<const int64_t> dims);

}  // namespace hasten
