// Samples out of .npz files: which axis is the samples, which arrays are constant.
#include <algorithm>
#include <filesystem>

#include "engine/ir/npy.h"
#include "measure/inputs_internal.h"

namespace hasten {

namespace fs = std::filesystem;

bool is_length_name(const std::string& symbol) {
  const std::string name = lower(symbol);
  for (const char* part : {"seq", "len", "time", "frame", "token", "sample"}) {
    if (name.find(part) != name.npos) return true;
  }
  return false;
}

namespace {

/// Is the first declared dim one that samples may be stacked along?
bool has_batch_axis(const Port& port) {
  if (port.shape.empty()) return false;
  const Dim first = port.shape[0];
  return first.known() ? first.value() == 1 : !is_length_name(first.text());
}

/// Rows [begin, begin + 1) of an array, under the given dims, sharing its memory.
Tensor row(const std::shared_ptr<Tensor>& array, int64_t index, Dims dims) {
  const size_t stride = static_cast<size_t>(count_of(dims)) * dtype_size(array->dtype());
  const auto* data = static_cast<const std::byte*>(array->data());
  return Tensor::borrow(array->dtype(), std::move(dims),
                        data == nullptr ? nullptr : data + static_cast<size_t>(index) * stride,
                        array);
}

/// The samples of one array: one tensor if it is the same for all.
Result<std::vector<Tensor>> split(const Port& port, Tensor array, const std::string& path) {
  const std::string source = fmt::format("{}: array '{}'", path, port.name);
  HASTEN_TRY(array, with_dtype(port, std::move(array), source));
  auto bad = [&](const char* why) {
    return fail(Code::kInvalidArgument, "{}: input '{}' wants {}, got {}{}: {}", source, port.name,
                port_type(port), dtype_name(array.dtype()), dims_text(array.dims()), why);
  };
  const size_t rank = port.has_shape ? port.shape.size() : array.dims().size();
  const Dims dims = array.dims();
  Dims sample;
  if (dims.size() == rank + 1) {
    sample.assign(dims.begin() + 1, dims.end());
  } else if (dims.size() != rank) {
    return bad("neither one value nor one more leading axis for the samples");
  } else if (port.has_shape && !has_batch_axis(port)) {
    if (!fits(port, dims))
      return bad("it has no batch axis, so this must be one value, or have one more leading axis");
    return std::vector<Tensor>{std::move(array)};
  } else {
    sample = dims;
    if (sample.empty()) return std::vector<Tensor>{std::move(array)};
    sample[0] = 1;
  }
  if (!fits(port, sample)) return bad("the dims behind the axis of the samples differ");
  if (dims[0] == 0) return bad("it holds no samples");
  auto shared = std::make_shared<Tensor>(std::move(array));
  std::vector<Tensor> tensors;
  for (int64_t i = 0; i < dims[0]; ++i) tensors.push_back(row(shared, i, sample));
  return tensors;
}

/// The array of that name, taken out of the list; nothing if it isn't there.
Tensor take(Arrays& arrays, const std::string& name) {
  const auto it = std::find_if(arrays.begin(), arrays.end(),
                               [&name](const auto& a) { return a.first == name; });
  if (it == arrays.end()) return {};
  Tensor tensor = std::move(it->second);
  arrays.erase(it);
  return tensor;
}

Status check_left_over(const Arrays& arrays, const std::vector<Port>& ports,
                       const std::string& path) {
  if (arrays.empty()) return {};
  return fail(Code::kInvalidArgument, "{}: array '{}' is no input of the model, which wants {}",
              path, arrays[0].first, describe_ports(ports));
}

tl::unexpected<Error> missing(const Port& port, const std::vector<Port>& ports,
                              const std::string& path) {
  return fail(Code::kInvalidArgument, "{}: no array named '{}'; the model wants {}", path,
              port.name, describe_ports(ports));
}

Result<Samples> samples_of_file(const std::vector<Port>& ports, Arrays arrays,
                                const std::string& path) {
  Samples samples;
  std::vector<std::vector<Tensor>> columns;
  size_t count = 1;
  std::string counted;
  for (const Port& port : ports) {
    Tensor array = take(arrays, port.name);
    if (array.empty()) return missing(port, ports, path);
    HASTEN_TRY(columns.emplace_back(), split(port, std::move(array), path));
    samples.names.push_back(port.name);
    const size_t n = columns.back().size();
    if (n == 1) continue;
    if (count != 1 && n != count) {
      return fail(Code::kInvalidArgument, "{}: array '{}' holds {} samples, array '{}' {}", path,
                  counted, count, port.name, n);
    }
    count = n;
    counted = port.name;
  }
  samples.label = take(arrays, "label");
  HASTEN_CHECK(check_left_over(arrays, ports, path));
  const Dims& label = samples.label.dims();
  if (!samples.label.empty() && (label.empty() || label[0] != static_cast<int64_t>(count))) {
    return fail(Code::kInvalidArgument, "{}: array 'label' is {}, for {} samples", path,
                dims_text(label), count);
  }
  for (size_t i = 0; i < count; ++i) {
    std::vector<Tensor>& sample = samples.rows.emplace_back();
    for (const auto& column : columns) sample.push_back(column[column.size() == 1 ? 0 : i]);
  }
  return samples;
}

/// One sample a file: arrays are what the model takes, or lack (or double) the batch axis.
Result<std::vector<Tensor>> sample_of_file(const std::vector<Port>& ports, Arrays& arrays,
                                           const std::string& path) {
  std::vector<Tensor> sample;
  for (const Port& port : ports) {
    Tensor array = take(arrays, port.name);
    if (array.empty()) return missing(port, ports, path);
    HASTEN_TRY(array, with_dtype(port, std::move(array), path));
    Dims dims = array.dims();
    if (port.has_shape && dims.size() + 1 == port.shape.size()) dims.insert(dims.begin(), 1);
    if (port.has_shape && dims.size() == port.shape.size() + 1 && dims[0] == 1)
      dims.erase(dims.begin());
    if (!fits(port, dims)) {
      return fail(Code::kInvalidArgument, "{}: input '{}' wants {}, got {}{}", path, port.name,
                  port_type(port), dtype_name(array.dtype()), dims_text(array.dims()));
    }
    sample.push_back(array.reshaped(std::move(dims)));
  }
  return sample;
}

/// Labels of one element each, one after the other; empty where files have none.
Result<Tensor> join_labels(const std::vector<Tensor>& labels, const std::string& folder) {
  if (labels.empty()) return Tensor();
  const DType dtype = labels[0].dtype();
  const size_t size = dtype_size(dtype);
  HASTEN_TRY(Tensor joined, Tensor::make(dtype, {static_cast<int64_t>(labels.size())}));
  for (size_t i = 0; i < labels.size(); ++i) {
    if (labels[i].dtype() != dtype || labels[i].count() != 1 || dtype == DType::kString) {
      return fail(Code::kInvalidArgument,
                  "{}: every file needs a 'label' of one number of the same type", folder);
    }
    std::copy_n(labels[i].as<std::byte>(), size, joined.mutable_as<std::byte>() + i * size);
  }
  return joined;
}

Result<Samples> samples_of_folder(const std::vector<Port>& ports, const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".npz") files.push_back(it->path().string());
  }
  if (error) return fail(Code::kIo, "cannot read folder '{}': {}", folder, error.message());
  if (files.empty()) return fail(Code::kInvalidArgument, "'{}' holds no .npz file", folder);
  std::sort(files.begin(), files.end());
  Samples samples;
  for (const Port& port : ports) samples.names.push_back(port.name);
  std::vector<Tensor> labels;
  for (const std::string& file : files) {
    HASTEN_TRY(Arrays arrays, read_npz(file));
    HASTEN_TRY(samples.rows.emplace_back(), sample_of_file(ports, arrays, file));
    if (Tensor label = take(arrays, "label"); !label.empty()) labels.push_back(std::move(label));
    HASTEN_CHECK(check_left_over(arrays, ports, file));
  }
  if (!labels.empty() && labels.size() != files.size()) {
    return fail(Code::kInvalidArgument, "{}: {} of {} files have a 'label'", folder, labels.size(),
                files.size());
  }
  HASTEN_TRY(samples.label, join_labels(labels, folder));
  return samples;
}

}  // namespace

Result<Samples> load_data(const std::vector<Port>& ports, const std::string& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return samples_of_folder(ports, path);
  if (path.ends_with(".npy")) {
    return fail(Code::kInvalidArgument,
                "'{}' holds one array without a name: --input {}={} gives it", path,
                ports.empty() ? "NAME" : ports[0].name, path);
  }
  HASTEN_TRY(Arrays arrays, read_npz(path));
  return samples_of_file(ports, std::move(arrays), path);
}

}  // namespace hasten
