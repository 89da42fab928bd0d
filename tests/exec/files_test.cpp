// Models against the files they lie in: larger than 2 GB, and cut short while they run.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "engine/exec/native.h"
#include "tests/onnx/load_util.h"

namespace hasten::test {
namespace {

constexpr int64_t kRow = 4;

/// A row of y = Gather(table, x), table f32[rows,4] being the initializer to come.
GraphSpec gather_graph() {
  GraphSpec g;
  g.nodes = {node("Gather", {"table", "x"}, {"y"})};
  g.inputs = {port("x", kInt64, {1})};
  g.outputs = {port("y", kFloat, {1, kRow})};
  return g;
}

struct Sparse {
  std::string path;
  int64_t data_at;  // of the table's first byte
};

/// A file whose table is a hole of the file system.
Sparse write_sparse(const TemporaryFolder& folder, int64_t rows) {
  const auto size = static_cast<uint64_t>(rows * kRow) * sizeof(float);
  std::string start;
  // The table must lie aligned, or it is copied: a longer name moves it.
  for (std::string name = "table"; start.empty() || start.size() % 64 != 0; name += '_') {
    GraphSpec graph = gather_graph();
    graph.nodes = {node("Gather", {name, "x"}, {"y"})};
    Proto head = tensor_head(name, {rows, kRow}, kFloat);
    head.raw_varint(9 << 3 | 2);
    head.raw_varint(size);
    Proto body = graph.message();
    body.raw_varint(5 << 3 | 2);
    body.raw_varint(head.text().size() + size);
    Proto model;
    model.varint(1, 8).message(8, Proto().varint(2, 17));
    model.raw_varint(7 << 3 | 2);
    model.raw_varint(body.text().size() + head.text().size() + size);
    start = model.text() + body.text() + head.text();
  }
  const std::string path = folder.write("m.onnx", start);
  EXPECT_EQ(::truncate(path.c_str(), static_cast<off_t>(start.size() + size)), 0);
  return {path, static_cast<int64_t>(start.size())};
}

void put_row(const std::string& path, int64_t at, const std::vector<float>& row) {
  const int fd = ::open(path.c_str(), O_WRONLY);
  ASSERT_GE(fd, 0);
  EXPECT_EQ(::pwrite(fd, row.data(), row.size() * sizeof(float), at), 16);
  ::close(fd);
}

class Opened {
 public:
  explicit Opened(const std::string& path, const EngineOptions& options = {}) {
    context_ = std::move(*Context::make());
    engine_ = open_engine(*context_, path, options);
    if (engine_) runner_ = std::move(*(*engine_)->make_runner());
  }
  /// The row, or the message of the error.
  std::string row(int64_t index) {
    if (!engine_) return engine_.error().message;
    const Tensor x = Tensor::ints({1}, {&index, 1});
    const TensorView view = x.view();
    Status done = runner_->bind({&view, 1});
    if (done) done = runner_->run();
    if (!done) return done.error().message;
    const TensorView y = runner_->outputs()[0];
    return fmt::format("{}", fmt::join(y.as<float>(), y.as<float>() + y.count(), " "));
  }

 private:
  std::unique_ptr<Context> context_;
  Result<std::unique_ptr<Engine>> engine_;
  std::unique_ptr<Runner> runner_;
};

constexpr int64_t kManyRows = (int64_t{5} << 30) / 16;  // 5 GB

TEST(Files, AModelOfFiveGigabytes) {
  const TemporaryFolder folder;
  const Sparse file = write_sparse(folder, kManyRows);
  put_row(file.path, file.data_at + (kManyRows - 2) * 16, {1, 2, 3, 4});
  Opened model(file.path);
  EXPECT_EQ(model.row(kManyRows - 2), "1 2 3 4");
  EXPECT_EQ(model.row(-2), "1 2 3 4");
  EXPECT_EQ(model.row(7), "0 0 0 0");
}

TEST(Files, ExternalDataOfFiveGigabytes) {
  const TemporaryFolder folder;
  ModelSpec model;
  model.graph = gather_graph();
  model.graph.initializers = {
      external("table", {kManyRows, kRow}, kFloat, {{"location", "w.bin"}, {"offset", "64"}})};
  const std::string path = folder.write("m.onnx", model.bytes());
  const std::string weights = folder.write("w.bin", "");
  ASSERT_EQ(::truncate(weights.c_str(), 64 + kManyRows * 16), 0);
  put_row(weights, 64 + (kManyRows - 1) * 16, {5, 6, 7, 8});
  EXPECT_EQ(Opened(path).row(kManyRows - 1), "5 6 7 8");
}

TEST(Files, CutShortWhileItRuns) {
  const TemporaryFolder folder;
  constexpr int64_t kRows = 1 << 16;
  const Sparse file = write_sparse(folder, kRows);
  put_row(file.path, file.data_at + (kRows - 1) * 16, {1, 2, 3, 4});
  Opened model(file.path);
  EXPECT_EQ(model.row(kRows - 1), "1 2 3 4");
  ASSERT_EQ(::truncate(file.path.c_str(), 8192), 0);
  EXPECT_EQ(model.row(0), "0 0 0 0");  // still there
  for (int again = 0; again < 3; ++again) {
    EXPECT_HAS(model.row(kRows - 1 - again), "m.onnx' was cut short while it was in use");
  }
  EXPECT_HAS(Opened(file.path).row(0), "damaged one");  // as any truncated file
}

TEST(Files, LimitsOfLoading) {
  const TemporaryFolder folder;
  const Sparse file = write_sparse(folder, 1 << 10);
  EngineOptions options;
  options.limits.bytes = 1 << 13;
  EXPECT_HAS(Opened(file.path, options).row(0), "more than the limit of 8192 bytes");
  options = {};
  options.limits.seconds = 1e-9;
  EXPECT_HAS(Opened(file.path, options).row(0), "longer to load than the limit of 1e-09 s");
  options.limits.seconds = 3600;
  EXPECT_EQ(Opened(file.path, options).row(0), "0 0 0 0");
}

}  // namespace
}  // namespace hasten::test
