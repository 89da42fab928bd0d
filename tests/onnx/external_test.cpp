// Weights in files beside the model.
#include "tests/onnx/load_util.h"

namespace hasten::test {
namespace {

namespace fs = std::filesystem;

using Entries = std::vector<std::pair<std::string, std::string>>;

class External : public ::testing::Test {
 protected:
  External() {
    // 3 bytes, two floats, 5 bytes.
    folder_.write("model/w.bin",
                  std::string(3, '\0') + Proto::raw<float>({10, 20}) + std::string(5, '\0'));
    folder_.write("secret.bin", Proto::raw<float>({1, 2}));
  }
  Result<Graph> load_with(const Entries& entries, const LoadOptions& options = {},
                          int64_t type = kFloat) {
    ModelSpec m = add_model();
    m.graph.initializers = {external("c", {2}, type, entries)};
    return load_onnx(folder_.write("model/m.onnx", m.bytes()), options);
  }
  /// Without the path of the model.
  std::string error(const Entries& entries, const LoadOptions& options = {}) {
    const std::string text = message(load_with(entries, options));
    const size_t at = text.find("m.onnx': ");
    return at == text.npos ? text : text.substr(at + 9);
  }
  TemporaryFolder folder_;
};

TEST_F(External, Good) {
  for (const Entries& entries :
       {Entries{{"location", "w.bin"}, {"offset", "3"}, {"length", "8"}},
        Entries{{"location", "w.bin"}, {"offset", "3"}},
        Entries{{"location", "./w.bin"}, {"offset", "3"}, {"checksum", "?"}}}) {
    auto g = load_with(entries);
    ASSERT_TRUE(g) << message(g);
    EXPECT_EQ(elements<float>(find_value(*g, "c").constant), (std::vector<float>{10, 20}));
  }
}

TEST_F(External, AlignedDataIsMapped) {
  folder_.write("model/sub/a.bin", Proto::raw<float>({0, 10, 20}));
  auto g = load_with({{"location", "sub/a.bin"}, {"offset", "4"}});
  ASSERT_TRUE(g) << message(g);
  const Tensor c = find_value(*g, "c").constant;
  EXPECT_EQ(elements<float>(c), (std::vector<float>{10, 20}));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(c.data()) % 4096, 4u);
}

TEST_F(External, WrongNumbers) {
  const std::string c = "initializer 'c': external data ";
  EXPECT_EQ(error({{"location", "w.bin"}, {"length", "4"}}),
            c + "'w.bin' has length 4, the tensor needs 8 bytes");
  EXPECT_EQ(error({{"location", "w.bin"}, {"length", "16"}}),
            c + "'w.bin' has length 16, the tensor needs 8 bytes");
  EXPECT_EQ(error({{"location", "w.bin"}, {"offset", "17"}}),
            c + "'w.bin' starts at byte 17, the file has 16 bytes");
  EXPECT_EQ(error({{"location", "w.bin"}, {"offset", "9"}, {"length", "8"}}),
            c + "'w.bin' needs 8 bytes at byte 9, the file has 16 bytes");
  EXPECT_EQ(error({{"location", "w.bin"}, {"offset", "-1"}}),
            c + "has the offset '-1', not a number of bytes");
  EXPECT_EQ(error({{"location", "w.bin"}, {"offset", "3x"}}),
            c + "has the offset '3x', not a number of bytes");
  EXPECT_EQ(error({{"location", "w.bin"}, {"offset", "18446744073709551612"}}),
            c + "'w.bin' starts at byte 18446744073709551612, the file has 16 bytes");
  EXPECT_EQ(error({{"location", "w.bin"}, {"offset", "99999999999999999999"}}),
            c + "has the offset '99999999999999999999', not a number of bytes");
  EXPECT_EQ(error({{"location", "w.bin"}, {"location", "w.bin"}}),
            c + "has two entries 'location'");
  EXPECT_EQ(error({{"location", "w.bin"}, {"weird", "1"}}), c + "has the unknown entry 'weird'");
}

TEST_F(External, Escapes) {
  const std::string c = "initializer 'c': ";
  EXPECT_EQ(error({{"location", "../secret.bin"}}),
            c + "external data '../secret.bin' leaves the folder of the model");
  EXPECT_EQ(error({{"location", "sub/../../secret.bin"}}),
            c + "external data 'sub/../../secret.bin' leaves the folder of the model");
  EXPECT_EQ(error({{"location", (folder_.path() / "secret.bin").string()}})
                    .find("has an absolute path") != std::string::npos,
            true);
  EXPECT_EQ(error({{"location", "/dev/zero"}}),
            c + "external data '/dev/zero' has an absolute path");
  EXPECT_EQ(error({}), c + "external data without a location");
  EXPECT_EQ(error({{"location", ""}}), c + "external data without a location");
  EXPECT_HAS(error({{"location", "gone.bin"}}), "cannot open external data 'gone.bin'");
  fs::create_directory(folder_.path() / "model/dir");
  EXPECT_HAS(error({{"location", "dir"}}), "is not a regular file");
  EXPECT_HAS(error({{"location", "."}}), "external data '.'");
}

TEST_F(External, Links) {
  fs::create_symlink("w.bin", folder_.path() / "model/inside.bin");
  auto inside = load_with({{"location", "inside.bin"}, {"offset", "3"}});
  EXPECT_TRUE(inside) << message(inside);
  fs::create_symlink("../secret.bin", folder_.path() / "model/outside.bin");
  EXPECT_HAS(error({{"location", "outside.bin"}}), "is a link that leaves the folder");
  fs::create_directory_symlink("..", folder_.path() / "model/up");
  EXPECT_HAS(error({{"location", "up/secret.bin"}}), "is a link that leaves the folder");
  fs::create_symlink("/dev/zero", folder_.path() / "model/zero.bin");
  EXPECT_HAS(error({{"location", "zero.bin"}}), "is a link that leaves the folder");
  LoadOptions allow;
  allow.limits.allow_external_links = true;
  auto outside = load_with({{"location", "outside.bin"}}, allow);
  ASSERT_TRUE(outside) << message(outside);
  EXPECT_EQ(elements<float>(find_value(*outside, "c").constant), (std::vector<float>{1, 2}));
  EXPECT_HAS(error({{"location", "zero.bin"}}, allow), "is not a regular file");
}

TEST_F(External, ElementsGivenTwice) {
  ModelSpec m = add_model();
  m.graph.initializers = {
      external("c", {2}, kFloat, {{"location", "w.bin"}}).packed_fixed<float>(4, {1, 2})};
  EXPECT_EQ(message(load(m.bytes(), {}, (folder_.path() / "model").string())),
            "invalid_model: initializer 'c': its elements are given twice, in float_data and in "
            "external data");
}

TEST_F(External, BytesNeedAFolder) {
  ModelSpec m = add_model();
  m.graph.initializers = {external("c", {2}, kFloat, {{"location", "w.bin"}, {"offset", "3"}})};
  EXPECT_HAS(message(load(m)), "the model came as bytes, without a folder");
  EXPECT_EQ(message(load(m.bytes(), {}, (folder_.path() / "model").string())), "loads");
}

}  // namespace
}  // namespace hasten::test
