#include "engine/ir/npy.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cstring>
#include <filesystem>

#include "engine/ir/text.h"

namespace hasten {
namespace {

template <class T>
std::string raw(std::initializer_list<T> values) {
  return std::string(reinterpret_cast<const char*>(values.begin()), values.size() * sizeof(T));
}

/// A .npy file by hand: version, header text, data.
std::string npy(const std::string& dict, const std::string& data, int version = 1) {
  std::string out = "\x93NUMPY";
  out += static_cast<char>(version);
  out += '\0';
  const auto n = static_cast<uint32_t>(dict.size());
  out.append(reinterpret_cast<const char*>(&n), version == 1 ? 2 : 4);
  return out + dict + data;
}
std::string dict(const std::string& descr, const std::string& shape,
                 const char* fortran = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }\n";
}

/// "f32[2] {1, 2}", or the error.
std::string parse(const std::string& file) {
  // Exactly as large as the file, for the sanitizers.
  const std::vector<char> copy(file.begin(), file.end());
  auto t = parse_npy(std::as_bytes(std::span(copy)), "a.npy");
  if (!t) return fmt::format("{}: {}", code_name(t.error().code), t.error().message);
  return fmt::format("{}{} {}", dtype_name(t->dtype()), dims_text(t->dims()),
                     tensor_text(t->view(), 100));
}

TEST(Npy, Dtypes) {
  EXPECT_EQ(parse(npy(dict("<f4", "(2,)"), raw<float>({1.5f, -2}))), "f32[2] {1.5, -2}");
  EXPECT_EQ(parse(npy(dict("<f8", "()"), raw<double>({0.1}))), "f64[] {0.1}");
  EXPECT_EQ(parse(npy(dict("<f2", "(1, 2)"), raw<uint16_t>({0x3c00, 0xc000}))), "f16[1,2] {1, -2}");
  EXPECT_EQ(parse(npy(dict("|i1", "(2,)"), "\xff\x01")), "i8[2] {-1, 1}");
  EXPECT_EQ(parse(npy(dict("|u1", "(2,)"), "\xff\x01")), "u8[2] {255, 1}");
  EXPECT_EQ(parse(npy(dict("<i2", "(1,)"), raw<int16_t>({-2}))), "i16[1] {-2}");
  EXPECT_EQ(parse(npy(dict("<u2", "(1,)"), raw<uint16_t>({65535}))), "u16[1] {65535}");
  EXPECT_EQ(parse(npy(dict("<i4", "(1,)"), raw<int32_t>({-3}))), "i32[1] {-3}");
  EXPECT_EQ(parse(npy(dict("<u4", "(1,)"), raw<uint32_t>({3}))), "u32[1] {3}");
  EXPECT_EQ(parse(npy(dict("<i8", "(1,)"), raw<int64_t>({-4}))), "i64[1] {-4}");
  EXPECT_EQ(parse(npy(dict("<u8", "(1,)"), raw<uint64_t>({4}))), "u64[1] {4}");
  EXPECT_EQ(parse(npy(dict("|b1", "(2,)"), std::string("\1\0", 2))), "bool[2] {true, false}");
  EXPECT_EQ(parse(npy(dict("|S3", "(2,)"), std::string("abcd\0\0", 6))), "str[2] {\"abc\", \"d\"}");
  EXPECT_EQ(parse(npy(dict("<U2", "(2,)"), raw<uint32_t>({'a', 0x20ac, 'b', 0}))),
            "str[2] {\"a\\xe2\\x82\\xac\", \"b\"}");
}

TEST(Npy, FormsOfTheHeader) {
  EXPECT_EQ(parse(npy(dict("<i4", "(0, 3)"), "")), "i32[0,3] {}");
  EXPECT_EQ(parse(npy(dict("<i4", "(2L,)"), raw<int32_t>({1, 2}), 2)), "i32[2] {1, 2}");
  EXPECT_EQ(parse(npy("{\"shape\": (1,), \"fortran_order\": False, \"descr\": \"<i4\"}      \n",
                      raw<int32_t>({1}), 3)),
            "i32[1] {1}");
  EXPECT_EQ(parse(npy(dict("<i4", "(2, 3)", "True"), raw<int32_t>({0, 3, 1, 4, 2, 5}))),
            "i32[2,3] {0, 1, 2, 3, 4, 5}");
  EXPECT_EQ(parse(npy(dict("|S1", "(2, 2)", "True"), "acbd")),
            "str[2,2] {\"a\", \"b\", \"c\", \"d\"}");
  EXPECT_EQ(parse(npy(dict("<i4", "(0, 3)", "True"), "")), "i32[0,3] {}");
}

TEST(Npy, Wrong) {
  EXPECT_EQ(parse(""), "invalid_argument: a.npy: the file is empty");
  EXPECT_EQ(parse("hello, no npy"), "invalid_argument: a.npy: not a .npy file");
  EXPECT_EQ(parse(npy(dict("<f4", "(2,)"), "1234567")),
            "invalid_argument: a.npy: f32[2] needs 8 bytes of elements, it has 7");
  EXPECT_EQ(parse(npy(dict("<f4", "(2,)"), "123456789")),
            "invalid_argument: a.npy: f32[2] needs 8 bytes of elements, it has 9");
  EXPECT_EQ(parse(npy(dict("<f4", "(-2,)"), "12345678")),
            "invalid_argument: a.npy: impossible shape [-2]");
  EXPECT_EQ(parse(npy(dict("<f4", "(4294967296, 4294967296)"), "1234")),
            "invalid_argument: a.npy: impossible shape [4294967296,4294967296]");
  EXPECT_EQ(parse(npy(dict("<f4", "(4611686018427387904,)"), "")),
            "invalid_argument: a.npy: impossible shape [4611686018427387904]");
  EXPECT_EQ(parse(npy(dict("<f4", "(1099511627776,)"), "")),
            "invalid_argument: a.npy: f32[1099511627776] needs 4398046511104 bytes of elements, it "
            "has 0");
  EXPECT_EQ(parse(npy(dict("|S0", "(1099511627776,)"), "")),
            "invalid_argument: a.npy: 1099511627776 empty strings");
  EXPECT_EQ(parse(npy(dict(">f4", "(1,)"), "1234")),
            "unsupported: a.npy: dtype '>f4' is not supported: save it little-endian");
  EXPECT_EQ(parse(npy(dict("<c8", "(1,)"), "12345678")),
            "unsupported: a.npy: dtype '<c8' is not supported");
  EXPECT_EQ(parse(npy(dict("<f16", "(1,)"), "12345678")),
            "unsupported: a.npy: dtype '<f16' is not supported");
  EXPECT_EQ(
      parse(npy(dict("|O", "(1,)"), "x")),
      "unsupported: a.npy: it holds Python objects (dtype object): save it with a plain dtype");
  EXPECT_EQ(
      parse(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", "1234")),
      "invalid_argument: a.npy: its header is damaged, or of a structured dtype, which is not "
      "supported");
  EXPECT_EQ(parse(npy(dict("|b1", "(1,)"), "\2")),
            "invalid_argument: a.npy: element 0 is 2, a bool is 0 or 1");
  EXPECT_EQ(parse(npy(dict("<f4", "(1,)"), "1234", 9)),
            "unsupported: a.npy: version 9 of .npy is not supported");
  const std::string good = npy(dict("<f4", "(2,)"), raw<float>({1, 2}));
  for (size_t n = 0; n < good.size(); ++n)
    EXPECT_EQ(parse(good.substr(0, n)).find("f32[2] {"), std::string::npos);
  for (size_t i = 0; i < good.size(); ++i) {
    std::string broken = good;
    broken[i] = static_cast<char>(~broken[i]);
    (void)parse(broken);
  }
}

TEST(Npy, WriteAndReadBack) {
  const std::string path = ::testing::TempDir() + "/hasten_npy_test.npy";
  Tensor t = Tensor::floats({1, 2, 1}, std::vector<float>{1, 2});
  ASSERT_TRUE(write_npy(path, t.view()));
  auto back = read_npy(path);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->dims(), t.dims());
  EXPECT_EQ(tensor_text(back->view(), 9), "{1, 2}");
  EXPECT_EQ(std::filesystem::file_size(path), 128u + 8u);
  std::filesystem::remove(path);
  Tensor bf16 = *Tensor::make(DType::kBF16, {1});
  bf16.mutable_as<uint16_t>()[0] = 0x3f80;
  EXPECT_EQ(parse(*npy_bytes(bf16.view())), "u16[1] {16256}");
  Tensor strings = *Tensor::make(DType::kString, {2});
  strings.mutable_as<std::string>()[0] = "abc";
  EXPECT_EQ(parse(*npy_bytes(strings.view())), "str[2] {\"abc\", \"\"}");
  EXPECT_EQ(write_npy("/nonexistent/a.npy", t.view()).error().code, Code::kIo);
}

// ---- .npz ----

struct ZipEntry {
  std::string name, content;
  bool deflated = false, zip64 = false;
  uint32_t crc_change = 0;
  int64_t size_change = 0;
};

template <class T>
void put(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(T));
}

std::string deflate_raw(const std::string& text) {
  z_stream s{};
  deflateInit2(&s, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&s, text.size()), '\0');
  s.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  s.avail_in = static_cast<uInt>(text.size());
  s.next_out = reinterpret_cast<Bytef*>(out.data());
  s.avail_out = static_cast<uInt>(out.size());
  deflate(&s, Z_FINISH);
  out.resize(s.total_out);
  deflateEnd(&s);
  return out;
}

std::string zip(const std::vector<ZipEntry>& entries, const std::string& comment = "") {
  std::string out, directory;
  for (const ZipEntry& e : entries) {
    const std::string packed = e.deflated ? deflate_raw(e.content) : e.content;
    const auto crc = static_cast<uint32_t>(crc32(
        0, reinterpret_cast<const Bytef*>(e.content.data()), static_cast<uInt>(e.content.size())));
    const auto offset = out.size();
    const uint64_t size = e.content.size() + static_cast<uint64_t>(e.size_change);
    for (bool local : {true, false}) {
      std::string& to = local ? out : directory;
      put<uint32_t>(to, local ? 0x04034b50 : 0x02014b50);
      if (!local) put<uint16_t>(to, 45);
      put<uint16_t>(to, 45);
      put<uint16_t>(to, 0);
      put<uint16_t>(to, e.deflated ? 8 : 0);
      put<uint32_t>(to, 0);
      put<uint32_t>(to, crc + e.crc_change);
      put<uint32_t>(to, e.zip64 ? UINT32_MAX : static_cast<uint32_t>(packed.size()));
      put<uint32_t>(to, e.zip64 ? UINT32_MAX : static_cast<uint32_t>(size));
      put<uint16_t>(to, static_cast<uint16_t>(e.name.size()));
      put<uint16_t>(to, e.zip64 ? 20 : 0);
      if (!local) {
        to.append(10, '\0');
        put<uint32_t>(to, static_cast<uint32_t>(offset));
      }
      to += e.name;
      if (e.zip64) {
        put<uint16_t>(to, 1);
        put<uint16_t>(to, 16);
        put<uint64_t>(to, size);
        put<uint64_t>(to, packed.size());
      }
    }
    out += packed;
  }
  const auto at = static_cast<uint32_t>(out.size());
  out += directory;
  put<uint32_t>(out, 0x06054b50);
  put<uint32_t>(out, 0);
  put<uint16_t>(out, static_cast<uint16_t>(entries.size()));
  put<uint16_t>(out, static_cast<uint16_t>(entries.size()));
  put<uint32_t>(out, static_cast<uint32_t>(directory.size()));
  put<uint32_t>(out, at);
  put<uint16_t>(out, static_cast<uint16_t>(comment.size()));
  return out + comment;
}

/// "a: f32[2] {1, 2}; …", or the error.
std::string parse_zip(const std::string& file) {
  const std::vector<char> copy(file.begin(), file.end());
  auto arrays = parse_npz(std::as_bytes(std::span(copy)), "d.npz");
  if (!arrays) return fmt::format("{}: {}", code_name(arrays.error().code), arrays.error().message);
  std::string out;
  for (const auto& [name, t] : *arrays) {
    out += fmt::format("{}{}: {}{} {}", out.empty() ? "" : "; ", name, dtype_name(t.dtype()),
                       dims_text(t.dims()), tensor_text(t.view(), 4));
  }
  return out;
}

const std::string kTwo = npy(dict("<f4", "(2,)"), raw<float>({1, 2}));

TEST(Npz, Forms) {
  EXPECT_EQ(parse_zip(zip({})), "");
  EXPECT_EQ(parse_zip(zip({{"a.npy", kTwo},
                           {"b/c.npy", kTwo, true},
                           {"d.npy", kTwo, false, true},
                           {"e.npy", kTwo, true, true}},
                          "a comment")),
            "a: f32[2] {1, 2}; b/c: f32[2] {1, 2}; d: f32[2] {1, 2}; e: f32[2] {1, 2}");
  const std::string large = npy(dict("<f4", "(100000,)"), std::string(400000, '\0'));
  EXPECT_EQ(parse_zip(zip({{"z.npy", large, true}})), "z: f32[100000] {0, 0, 0, 0, …}");
  // A header as long as version 2 allows it.
  const std::string wide =
      npy(dict("<f4", "(2,)") + std::string(70000, ' '), raw<float>({1, 2}), 2);
  EXPECT_EQ(parse_zip(zip({{"w.npy", wide, true}})), "w: f32[2] {1, 2}");
}

TEST(Npz, Wrong) {
  const std::string a = "invalid_argument: d.npz: array 'a': ";
  EXPECT_EQ(parse_zip(""), "invalid_argument: d.npz: the file is empty");
  EXPECT_EQ(parse_zip("no zip, but long enough to be one"),
            "invalid_argument: d.npz: not a .npz file, or cut off");
  EXPECT_EQ(parse_zip(zip({{"a.txt", kTwo}})),
            "invalid_argument: d.npz: 'a.txt' in it is not a .npy file");
  EXPECT_EQ(parse_zip(zip({{"a.npy", kTwo}, {"a.npy", kTwo}})),
            "invalid_argument: d.npz: array 'a' is there twice");
  EXPECT_NE(parse_zip(zip({{"a.npy", kTwo, false, false, 1}})).find(a + "its checksum is "),
            std::string::npos);
  EXPECT_NE(parse_zip(zip({{"a.npy", kTwo, true, false, 1}})).find(a + "its checksum is "),
            std::string::npos);
  EXPECT_EQ(parse_zip(zip({{"a.npy", "hello, world", true}})), a + "not a .npy file");
  EXPECT_EQ(parse_zip(zip({{"a.npy", "", true}})), a + "the file is empty");
  EXPECT_NE(parse_zip(zip({{"a.npy", kTwo, true, false, 0, 4}})).find("the zip says"),
            std::string::npos);
  EXPECT_NE(parse_zip(zip({{"a.npy", kTwo, false, false, 0, 4}})).find("it is stored, but"),
            std::string::npos);
  EXPECT_NE(parse_zip(zip({{"a.npy", kTwo, true, true, 0, int64_t{1} << 40}}))
                .find("can't be packed into"),
            std::string::npos);
  // A small file that says to be large.
  const std::string liar = npy(dict("<f4", "(1099511627776,)"), "");
  EXPECT_NE(parse_zip(zip({{"a.npy", liar, true}})).find("needs 4398046511184 bytes, the zip says"),
            std::string::npos)
      << parse_zip(zip({{"a.npy", liar, true}}));
}

TEST(Npz, DamagedAnywhere) {
  const std::string good = zip({{"a.npy", kTwo}, {"b.npy", kTwo, true, true}});
  ASSERT_EQ(parse_zip(good), "a: f32[2] {1, 2}; b: f32[2] {1, 2}");
  for (size_t n = 0; n < good.size(); ++n) {
    EXPECT_EQ(parse_zip(good.substr(0, n)).rfind("invalid_argument: d.npz: ", 0), 0u);
  }
  for (size_t i = 0; i < good.size(); ++i) {
    for (int flip : {1, 0x80, 0xff}) {
      std::string broken = good;
      broken[i] = static_cast<char>(broken[i] ^ flip);
      (void)parse_zip(broken);
    }
  }
}

TEST(Npz, WriteAndReadBack) {
  const std::string path = ::testing::TempDir() + "/hasten_npz_test.npz";
  const Tensor x = Tensor::floats({2}, std::vector<float>{1, 2});
  const Tensor n = Tensor::ints({}, std::vector<int64_t>{7});
  const std::pair<std::string, TensorView> arrays[] = {{"x", x.view()}, {"n/1", n.view()}};
  ASSERT_TRUE(write_npz(path, arrays));
  auto back = read_npz(path);
  ASSERT_TRUE(back) << back.error().message;
  ASSERT_EQ(back->size(), 2u);
  EXPECT_EQ((*back)[0].first, "x");
  EXPECT_EQ((*back)[1].first, "n/1");
  EXPECT_EQ(tensor_text((*back)[1].second.view(), 9), "{7}");
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace hasten
