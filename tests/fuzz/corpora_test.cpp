// What the fuzzers found worth keeping, findings of the past among it, once more.
#include <gtest/gtest.h>

#include "fuzz/corpus.h"
#include "fuzz/targets.h"

namespace hasten::test {
namespace {

using Target = std::string (*)(fuzz::Input);

void replay(const char* name, Target target) {
  const auto inputs =
      fuzz::read_pack(std::string(HASTEN_SOURCE_DIR) + "/fuzz/corpora/" + name + ".pack");
  EXPECT_GT(inputs.size(), 20U) << "fuzz/corpora/" << name << ".pack is missing or cut short";
  for (size_t i = 0; i < inputs.size(); ++i) {
    // Of exactly its size, so that sanitizers see any read behind it.
    const std::vector<uint8_t> bytes(inputs[i].begin(), inputs[i].end());
    EXPECT_EQ(target(bytes), "") << "input " << i << " of " << name << ": tools/fuzz --unpack";
  }
}

TEST(Corpora, OnnxLoad) { replay("onnx_load", fuzz::onnx_load); }
TEST(Corpora, GraphText) { replay("graph_text", fuzz::graph_text); }
TEST(Corpora, Passes) { replay("passes", fuzz::passes); }
TEST(Corpora, Kernels) { replay("kernels", fuzz::kernels); }
TEST(Corpora, PlanFile) { replay("plan_file", fuzz::plan_file); }

TEST(MutateProto, KeepsLengthsRight) {
  // A message (field 1) with a string (field 2): whatever is done to it still reads as fields.
  const std::vector<uint8_t> start = {0x0a, 0x05, 0x12, 0x03, 'a', 'b', 'c'};
  for (uint32_t seed = 0; seed < 500; ++seed) {
    std::vector<uint8_t> bytes(64);
    std::copy(start.begin(), start.end(), bytes.begin());
    const size_t size = fuzz::mutate_proto(bytes.data(), start.size(), bytes.size(), seed);
    ASSERT_LE(size, bytes.size());
    size_t at = 0;
    while (at < size) {
      const uint8_t wire = bytes[at++] & 7;
      if (wire == 2) {
        at += 1U + bytes[at];
      } else if (wire == 0) {
        while (at < size && bytes[at] >= 0x80) ++at;
        ++at;
      } else {
        at += wire == 1 ? 8 : 4;
      }
    }
    EXPECT_EQ(at, size) << seed;
  }
}

}  // namespace
}  // namespace hasten::test
