#include "tests/ops/infer_harness.h"

namespace hasten::test {
namespace {

constexpr Tolerance kClose{1e-6, 1e-6};
const Attrs kOneSided = {{"onesided", int64_t{1}}};

TEST(DFT, AgreesWithNumpy) {
  const Tensor x = floats({1, 5, 1}, {1, 2, 3, 4, 5});
  check_op(make_case("DFT", 17, {x}),
           floats({1, 5, 2}, {15, 0, -2.5f, 3.4409548f, -2.5f, 0.81229924f, -2.5f, -0.81229924f,
                              -2.5f, -3.4409548f}),
           "", kClose);
  // Padded to 6, half a spectrum.
  check_op(make_case("DFT", 20, {x, ints({}, {6})}, kOneSided),
           floats({1, 4, 2}, {15, 0, -6, 0, 0, -3.46410162f, 3, 0}), "", {1e-6, 2e-6});
  check_op(make_case("DFT", 20, {floats({1, 3, 2}, {1, 0, 0, 2, 3, 0})}, {{"inverse", int64_t{1}}}),
           floats({1, 3, 2},
                  {1.33333333f, 0.66666667f, -0.74401694f, -1.19935874f, 0.4106836f, 0.53269207f}),
           "", kClose);
  check_op(
      make_case("DFT", 20, {floats({1, 3, 2}, {15, 0, -2.5f, 3.4f, -2.5f, 0.8f}), ints({}, {5})},
                {{"inverse", int64_t{1}}, {"onesided", int64_t{1}}}),
      floats({1, 5, 1}, {1, 2.01847186f, 3.00495014f, 3.99504986f, 4.98152814f}), "", kClose);
  // Along another axis: sums and differences.
  check_op(make_case("DFT", 20, {floats({2, 2, 1}, {1, 2, 3, 5}), Tensor(), ints({}, {0})}),
           floats({2, 2, 2}, {4, 0, 7, 0, -2, 0, -3, 0}), "", kClose);
  check_op(make_case("DFT", 17, {floats({0, 4, 1}, {})}), floats({0, 4, 2}, {}));
}

TEST(DFT, OfEveryLengthIsUndoneByItsInverse) {
  for (const int64_t n : {1, 2, 3, 8, 12, 35, 97, 121, 360}) {
    const Tensor x = random_floats({1, n, 2}, static_cast<uint32_t>(n));
    const auto there = check_op(make_case("DFT", 20, {x}), "");
    ASSERT_EQ(there.size(), 1u);
    check_op(make_case("DFT", 20, {there[0]}, {{"inverse", int64_t{1}}}), x, "", {1e-5, 1e-6});
  }
}

TEST(DFT, RefusesWhatHasNoTransform) {
  const Tensor x = floats({1, 2, 1}, {1, 2});
  check_error(make_case("DFT", 20, {x, ints({}, {0})}), Code::kInvalidModel, "dft_length is 0");
  check_error(make_case("DFT", 20, {x, ints({}, {INT64_MAX})}), Code::kUnsupported, "dft_length 9");
  check_error(make_case("DFT", 20, {x, Tensor(), ints({}, {2})}), Code::kInvalidModel,
              "axis 2 is that of the complex parts");
  check_error(make_case("DFT", 17, {x}, {{"axis", int64_t{-4}}}), Code::kInvalidModel,
              "axis -4 is outside");
  check_error(make_case("DFT", 20, {floats({1, 1, 3}, {1, 2, 3})}), Code::kInvalidModel,
              "the last axis has 3 elements");
  check_error(make_case("DFT", 20, {floats({1, 1, 2}, {1, 2})}, kOneSided), Code::kInvalidModel,
              "onesided needs a real input");
  check_error(make_case("DFT", 20, {floats({1, 0, 1}, {})}), Code::kInvalidModel,
              "the signal's length is 0");
}

TEST(STFT, TransformsFrames) {
  const Tensor x = floats({1, 4, 1}, {1, 2, 3, 4});
  check_op(make_case("STFT", 17, {x, ints({}, {1}), floats({2}, {1, 0.5f}), ints({}, {2})}),
           floats({1, 3, 2, 2}, {2, 0, 0, 0, 3.5f, 0, 0.5f, 0, 5, 0, 1, 0}), "", kClose);
  check_op(make_case("STFT", 17, {x, ints({}, {3}), Tensor(), ints({}, {2})}),
           floats({1, 1, 2, 2}, {3, 0, -1, 0}), "", kClose);
  EXPECT_EQ(infer_text("STFT", 17,
                       {shaped(DType::kF32, {sym("n"), 10, 1}), known(ints({}, {3})),
                        shaped(DType::kF32, {4})}),
            "f32[n,3,3,2]");
  check_error(make_case("STFT", 17, {x, ints({}, {0}), floats({2}, {1, 1})}), Code::kInvalidModel,
              "frame_step is 0");
  check_error(make_case("STFT", 17, {x, ints({}, {1}), floats({5}, {1, 1, 1, 1, 1})}),
              Code::kInvalidModel, "frame_length is 5, the signal has 4 samples");
  check_error(make_case("STFT", 17, {x, ints({}, {1}), floats({2}, {1, 1}), ints({}, {3})}),
              Code::kInvalidModel, "window has 2 elements");
}

TEST(CosineWindow, AgreesWithOnnxruntime) {
  const Tensor four = ints({}, {4});
  const Attrs symmetric = {{"periodic", int64_t{0}}};
  check_op(make_case("HammingWindow", 17, {four}),
           floats({4}, {0.0869565f, 0.54347825f, 1, 0.54347825f}), "", kClose);
  check_op(make_case("HannWindow", 17, {ints({}, {5})}, symmetric),
           floats({5}, {0, 0.5f, 1, 0.5f, 0}), "", kClose);
  check_op(make_case("BlackmanWindow", 17, {four}), floats({4}, {0, 0.34f, 1, 0.34f}), "", kClose);
  check_op(make_case("HannWindow", 17, {four}, {{"output_datatype", int64_t{7}}}),
           ints({4}, {0, 0, 1, 0}));
  check_op(make_case("HannWindow", 17, {ints({}, {1})}, symmetric), floats({1}, {1}));
  check_op(make_case("HannWindow", 17, {ints({}, {0})}), floats({0}, {}));
  check_error(make_case("HannWindow", 17, {ints({}, {-1})}), Code::kInvalidModel, "size is -1");
  check_error(make_case("HannWindow", 17, {four}, {{"output_datatype", int64_t{8}}}),
              Code::kUnsupported, "output_datatype str");
  check_error(make_case("HannWindow", 17, {four}, {{"output_datatype", int64_t{17}}}),
              Code::kUnsupported, "output_datatype 17");
}

TEST(MelWeightMatrix, AgreesWithOnnxruntime) {
  const auto mel = [](int64_t bands, int64_t length, int64_t rate, float low, float high) {
    return make_case("MelWeightMatrix", 17,
                     {ints({}, {bands}), ints({}, {length}), ints({}, {rate}), floats({}, {low}),
                      floats({}, {high})});
  };
  check_op(mel(3, 8, 8000, 0, 4000), floats({5, 3}, {1, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0}),
           "", kClose);
  check_op(mel(0, 8, 8000, 0, 4000), floats({5, 0}, {}));
  // Edges above the spectrum.
  EXPECT_FALSE(check_op(mel(2, 8, 8000, 1000, 3e38f), "").empty());
  check_error(mel(3, 8, 0, 0, 4000), Code::kInvalidModel, "sample_rate is 0");
  check_error(mel(-1, 8, 8000, 0, 4000), Code::kInvalidModel, "num_mel_bins is -1");
  check_error(mel(3, 8, 8000, 4000, 0), Code::kInvalidModel, "the edges are 4000 and 0 hertz");
  check_error(mel(3, 8, 8000, 0, NAN), Code::kInvalidModel, "the edges are 0 and nan hertz");
}

}  // namespace
}  // namespace hasten::test
