// Proofs as text, page and JSON: what is said when nothing was proven.
#include <gtest/gtest.h>

#include <cmath>

#include "measure/profile.h"
#include "report/html.h"
#include "report/proof_json.h"
#include "report/text.h"

namespace hasten {
namespace {

/// The baseline, one that was compared in full, and one that was only screened.
Proof proof_of(Verdict verdict) {
  Proof p;
  p.model_path = "m.onnx";
  p.tried.resize(3);
  p.tried[0].target = "engine=onnxruntime";
  p.tried[0].outcome = Outcome::kBaseline;
  p.tried[0].screened = 1;
  p.tried[1].target = "threads=2";
  p.tried[1].outcome = verdict == Verdict::kUnsure ? Outcome::kUnsure : Outcome::kLost;
  p.tried[1].p50_ms = 2;
  p.tried[1].screened = 1.25;
  p.tried[1].speedup = 1.02;
  p.tried[1].ci = Interval{0.97, 1.07};
  p.tried[2].target = "threads=1";
  p.tried[2].outcome = Outcome::kLost;
  p.tried[2].screened = 0.5;
  p.baseline = p.chosen = p.tried[0];
  p.challenger = p.tried[1].target;
  p.comparison.a = figures({2, 2, 2});
  p.comparison.b = figures({2, 2, 2});
  p.comparison.verdict = verdict;
  p.comparison.rounds = 8;
  p.comparison.speedup = 1.02;
  p.comparison.ci = {0.97, 1.07};
  return p;
}

TEST(ProofReport, UnsureIsNotCalledBest) {
  Proof p = proof_of(Verdict::kUnsure);
  p.comparison.more_seconds = 40;
  const std::string text = proof_text(p, {});
  EXPECT_NE(text.find("nothing was proven faster"), std::string::npos) << text;
  EXPECT_NE(text.find("threads=2 came nearest with 1.020 x"), std::string::npos) << text;
  EXPECT_NE(text.find("about 40 s more would decide"), std::string::npos) << text;
  EXPECT_EQ(text.find("already best"), std::string::npos) << text;
  const Json json = to_json(p);
  EXPECT_EQ(json["unsure"], true);
  EXPECT_EQ(json["baseline_is_best"], false);
  EXPECT_EQ(json["more_seconds"], 40.0);
  EXPECT_EQ(json["speedup"], 1.0);
  HtmlReport report;
  report.proof = &p;
  const std::string page = html_report(report);
  EXPECT_NE(page.find("Nothing was proven faster"), std::string::npos);
  EXPECT_EQ(page.find("already best"), std::string::npos);
  EXPECT_EQ(page.find("http"), std::string::npos) << "self-contained";
}

TEST(ProofReport, ProvenNoFasterIsBest) {
  const Proof p = proof_of(Verdict::kSlower);
  const std::string text = proof_text(p, {});
  EXPECT_NE(text.find("the baseline is already best"), std::string::npos) << text;
  EXPECT_EQ(to_json(p)["baseline_is_best"], true);
  EXPECT_EQ(to_json(p)["unsure"], false);
}

TEST(ProofReport, InterruptedClaimsNothing) {
  Proof p = proof_of(Verdict::kUnsure);
  p.interrupted = true;
  p.comparison = {};
  const std::string text = proof_text(p, {});
  EXPECT_NE(text.find("interrupted before anything was compared"), std::string::npos) << text;
  EXPECT_EQ(text.find("already best"), std::string::npos) << text;
}

TEST(ProofReport, FindingsAreSentencesOfTheirOwn) {
  const Proof p = proof_of(Verdict::kSlower);
  Profile profile;
  profile.ops.resize(1);
  profile.findings.push_back({1, "copies", "1 Cast: c", 0.5, 0.4, "these move data", "fuse them"});
  HtmlReport report;
  report.proof = &p;
  report.profile = &profile;
  const std::string page = html_report(report);
  EXPECT_NE(page.find("these move data. Next: fuse them.<"), std::string::npos) << page;
}

TEST(ProofReport, ScreeningAndComparisonAreApart) {
  const Json json = to_json(proof_of(Verdict::kSlower));
  EXPECT_EQ(json["tried"][1]["screening_speedup"], 1.25);
  EXPECT_EQ(json["tried"][1]["speedup"], 1.02);
  EXPECT_EQ(json["tried"][2]["screening_speedup"], 0.5);
  EXPECT_TRUE(json["tried"][2]["speedup"].is_null());
}

TEST(ProofReport, AClaimIsReadBack) {
  const Proof p = proof_of(Verdict::kUnsure);
  Result<Claim> claim = claim_from_json(to_json(p).dump(), "proof.json");
  ASSERT_TRUE(claim) << claim.error().message;
  EXPECT_TRUE(claim->keeps_baseline);
  claim = claim_from_json("{", "proof.json");
  ASSERT_FALSE(claim);
  EXPECT_EQ(claim.error().message.find("json.exception"), std::string::npos)
      << claim.error().message;
}

TEST(CompareText, NoIntervalYet) {
  Comparison c;
  c.speedup = 1.5;
  c.ci = {0, HUGE_VAL};
  c.alpha = 1e-6;
  c.rounds = 1;
  const std::string text = compare_text(c, "a", "b", {});
  EXPECT_NE(text.find("1 round of fresh instances"), std::string::npos) << text;
  EXPECT_NE(text.find("unsure whether B is faster: 1.500 x as fast, no interval yet"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("inf"), std::string::npos) << text;
}

}  // namespace
}  // namespace hasten
