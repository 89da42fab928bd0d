// NumPy's files: .npy (one array) and .npz (a zip of them).
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/ir/tensor.h"

namespace hasten {

/// In the order of the file; names without ".npy".
using Arrays = std::vector<std::pair<std::string, Tensor>>;

/// One array: little-endian numbers and bools of our dtypes, strings ('S' as bytes, 'U' as UTF-8);
/// C order, or Fortran order, which is converted. bfloat16 has no NumPy type: it travels as uint16,
/// and the caller decides. Errors name the file: io, invalid_argument (damaged, lying),
/// unsupported (dtype), out_of_memory.
Result<Tensor> read_npy(const std::string& path);
/// The same from bytes; `place` names them in errors.
Result<Tensor> parse_npy(std::span<const std::byte> bytes, const std::string& place);

/// All arrays of a zip, stored or deflated, with their checksums checked.
Result<Arrays> read_npz(const std::string& path);
Result<Arrays> parse_npz(std::span<const std::byte> bytes, const std::string& place);

/// A version 1.0 file; bfloat16 as uint16, strings as 'S'. The tensor's layout must be plain.
/// Written atomically. Errors: io; invalid_argument.
Status write_npy(const std::string& path, const TensorView& tensor);
/// The bytes of such a file.
Result<std::string> npy_bytes(const TensorView& tensor);

/// An uncompressed zip of at most 4 GB.
Status write_npz(const std::string& path,
                 std::span<const std::pair<std::string, TensorView>> arrays);

/// What the start of a .npy file says. For readers that get the bytes piece by piece.
struct NpyHeader {
  DType dtype = DType::kNone;
  char kind = 0;           // of NumPy: 'f', 'i', 'u', 'b', 'S', 'U'
  int64_t item_bytes = 0;  // of one element in the file
  bool fortran_order = false;
  Dims dims;
  int64_t count = 0;
  size_t header_bytes = 0;  // where the elements start
  size_t data_bytes = 0;    // of all elements
};
/// `bytes` may go on behind the header. Errors as read_npy.
Result<NpyHeader> parse_npy_header(std::span<const std::byte> bytes, const std::string& place);
/// The elements behind a header.
Result<Tensor> decode_npy(const NpyHeader& header, std::span<const std::byte> data,
                          const std::string& place);

}  // namespace hasten
