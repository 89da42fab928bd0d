#include "report/format.h"

#include <gtest/gtest.h>

#include <cmath>

#include "report/charts.h"
#include "report/chrome_trace.h"

namespace hasten {
namespace {

TEST(Format, Milliseconds) {
  EXPECT_EQ(format_ms(0.012345), "0.0123 ms");
  EXPECT_EQ(format_ms(0.12345), "0.1235 ms");
  EXPECT_EQ(format_ms(12.345), "12.35 ms");
  EXPECT_EQ(format_ms(1234.5), "1234 ms");
  EXPECT_EQ(format_ms(12345), "12.3 s");
  EXPECT_EQ(format_ms(0), "0 ms");
}

TEST(Format, CountsAndBytes) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(1234), "1.23 k");
  EXPECT_EQ(format_count(8.21e9), "8.21 G");
  EXPECT_EQ(format_bytes(512), "512 B");
  EXPECT_EQ(format_bytes(102.4e6), "102 MB");
  EXPECT_EQ(format_percent(0.9833), "98.3 %");
  EXPECT_EQ(format_flops(0), "0 FLOP");
  EXPECT_EQ(format_flops(128), "128 FLOP");
  EXPECT_EQ(format_flops(8.18e9), "8.18 GFLOP");
  EXPECT_EQ(format_time(0.00012), "0.12 µs");
  EXPECT_EQ(format_time(0.0123), "12.3 µs");
  EXPECT_EQ(format_time(12.345), "12.35 ms");
}

TEST(Format, TablesAlign) {
  Table table("lr");
  table.header({"op", "ms"});
  table.row({"Conv", "1.5"});
  table.row({"µ", "12.25"});
  EXPECT_EQ(table.text({}), "  op       ms\n  Conv    1.5\n  µ     12.25\n");
  EXPECT_EQ(shorten("abcdef", 4), "abc…");
  EXPECT_EQ(shorten("abc", 4), "abc");
}

TEST(Charts, AreSelfContainedAndEscaped) {
  EXPECT_EQ(escape_html("<a href='x'>&\""), "&lt;a href=&#39;x&#39;&gt;&amp;&quot;");
  std::vector<double> fast, slow;
  for (int i = 0; i < 500; ++i) {
    fast.push_back(10 + 0.01 * (i % 50));
    slow.push_back(20 + 0.01 * (i % 50));
  }
  const Distribution both[] = {{"<slow>", "a", slow}, {"fast", "b", fast}};
  const std::string svg = histograms_svg(both);
  EXPECT_NE(svg.find("&lt;slow&gt;"), std::string::npos);
  EXPECT_NE(svg.find("p50"), std::string::npos);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("http"), std::string::npos);
  EXPECT_EQ(histograms_svg({}), "");
  const std::vector<double> same = {5, 5, 5};
  const Distribution flat[] = {{"flat", "a", same}};
  EXPECT_EQ(histograms_svg(flat).find("nan"), std::string::npos);
}

TEST(Charts, ALongTailDoesNotStretchTheAxis) {
  std::vector<double> tailed(500, 1.0);
  for (size_t i = 0; i < 10; ++i) tailed[i] = 100;
  const Distribution one[] = {{"tailed", "a", tailed}};
  const std::string svg = histograms_svg(one);
  EXPECT_NE(svg.find("10 more beyond"), std::string::npos) << svg;
}

TEST(Charts, SpeedupOfAnOpenInterval) {
  const std::vector<double> ratios = {1.5, 1.6};
  const std::string svg = speedup_svg(1.55, {0, HUGE_VAL}, ratios);
  EXPECT_EQ(svg.find("x=nan"), std::string::npos);
  EXPECT_EQ(svg.find("=inf"), std::string::npos);
  EXPECT_EQ(svg.find("<rect"), std::string::npos) << "no interval, no bar: " << svg;
  EXPECT_NE(speedup_svg(1.55, {1.4, 1.7}, ratios).find("<rect"), std::string::npos);
}

TEST(ChromeTrace, TimesCountFromTheFirstEvent) {
  const std::vector<TraceEvent> events = {{"b", "Conv", 2'000'000, 2'500'000, 1, {{"kernel", "k"}}},
                                          {"a", "Relu", 1'000'000, 1'000'500, 1, {}}};
  const std::string json = chrome_trace(events, "m.onnx");
  EXPECT_NE(json.find(R"("name":"b","cat":"Conv","ph":"X","ts":1000.0,"dur":500.0)"),
            std::string::npos)
      << json;
  EXPECT_NE(json.find(R"("ts":0.0,"dur":0.5)"), std::string::npos) << json;
  EXPECT_NE(chrome_trace({}, "m").find("traceEvents"), std::string::npos);
}

}  // namespace
}  // namespace hasten
