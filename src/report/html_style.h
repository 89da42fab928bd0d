// The style sheet of reports: one column on a phone, two on a desk, light and dark.
#pragma once

namespace hasten {

inline constexpr const char* kHtmlStyle = R"css(
:root{--bg:#fff;--card:#f6f7f9;--ink:#1a1d21;--soft:#5c6670;--line:#d5dae0;--a:#8a94a0;--b:#1f6feb;
--good:#1a7f37;--bad:#c62828;--warn:#9a6700}
@media(prefers-color-scheme:dark){:root{--bg:#12151a;--card:#1b2027;--ink:#e6e9ed;--soft:#9aa5b1;
--line:#343c46;--a:#7d8894;--b:#58a6ff;--good:#4cc26a;--bad:#ff7b72;--warn:#e3b341}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1120px;padding:16px;background:var(--bg);color:var(--ink);
font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
header{padding:8px 4px 20px}
h1{font-size:1.1rem;margin:0;color:var(--soft);font-weight:600;overflow-wrap:anywhere}
h2{font-size:1rem;margin:0 0 10px}
.big{font-size:2.4rem;line-height:1.15;font-weight:700;margin:8px 0;color:var(--b)}
p{margin:8px 0}p,li{overflow-wrap:anywhere}
main{columns:420px 2;column-gap:16px}
section{background:var(--card);border-radius:10px;padding:16px;margin:0 0 16px;break-inside:avoid}
svg{width:100%;max-width:520px;display:block;margin:0 auto 8px}
svg text{font-size:11px;fill:var(--soft)}
svg .name{fill:var(--ink)}
svg .halo{paint-order:stroke;stroke:var(--card);stroke-width:3px}
.axis{stroke:var(--line)}
.mark{stroke:var(--ink);stroke-dasharray:3 2}
.one{stroke:var(--ink)}
rect.a,circle.a{fill:var(--a)}
rect.b,circle.b{fill:var(--b)}
.round{fill:var(--b);opacity:.45}
.point{fill:var(--b);stroke:var(--card);stroke-width:2}
code{font:.86em/1.4 ui-monospace,"DejaVu Sans Mono",monospace;overflow-wrap:anywhere}
.note{color:var(--soft);font-size:.86rem}
.good{color:var(--good)}.bad{color:var(--bad)}.warn{color:var(--warn)}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.86rem;font-variant-numeric:tabular-nums}
th,td{text-align:right;padding:4px 6px;border-bottom:1px solid var(--line);white-space:nowrap}
th:first-child,td:first-child{text-align:left}
th{color:var(--soft);font-weight:500}
th i{display:inline-block;width:.7em;height:.7em;border-radius:2px;margin-right:.5em}
i.a{background:var(--a)}i.b{background:var(--b)}
dl{display:grid;grid-template-columns:max-content 1fr;gap:4px 14px;margin:0;font-size:.9rem}
dt{color:var(--soft)}dd{margin:0;min-width:0;overflow-wrap:anywhere}
ul{margin:0;padding-left:1.2em}
.try{padding:8px 0;border-bottom:1px solid var(--line)}.try:last-child{border:0}
.head{display:flex;gap:10px;justify-content:space-between;align-items:baseline}
.tag{font-size:.75rem;padding:1px 8px;border-radius:9px;border:1px solid var(--line);color:var(--soft);flex:none}
.tag.chosen{background:var(--b);border-color:var(--b);color:var(--bg)}
.tag.out,.tag.failed{color:var(--bad);border-color:var(--bad)}
.bar{display:flex;align-items:center;gap:8px;font-size:.86rem;font-variant-numeric:tabular-nums;margin:3px 0}
.bar i{height:.7em;border-radius:2px;min-width:2px;flex:none}
.why{color:var(--soft);font-size:.86rem;overflow-wrap:anywhere}
.ops td:first-child{white-space:normal;min-width:9.5em}
.ops span{color:var(--soft);overflow-wrap:anywhere}
@media(max-width:520px){.wide,.ops th:nth-child(3),.ops td:nth-child(3){display:none}th,td{padding:4px 3px}
main{columns:1}.ops td:first-child{min-width:6em}}
.share{height:5px;margin-top:2px}.share i{display:block;height:5px;border-radius:2px;min-width:1px}
)css";

}  // namespace hasten
