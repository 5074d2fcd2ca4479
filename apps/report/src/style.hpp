// What the pages share.
#pragma once

namespace ww::report {

inline constexpr const char* style = R"css(
:root{color-scheme:light dark;--bg:#fff;--fg:#1b1f24;--mut:#5b6570;--rule:#d8dde3;--card:#f6f8fa;
--c1:#0b62c4;--c2:#1a7f4b;--c3:#7a4fc0;--c4:#c2490f;--c5:#4a5560;--warn:#fff4d6;--warnfg:#6b4700}
@media (prefers-color-scheme:dark){:root{--bg:#14181d;--fg:#e6e9ed;--mut:#9aa5b1;--rule:#333b45;
--card:#1c2229;--c1:#6cb0ff;--c2:#5fd39a;--c3:#bb9cf5;--c4:#ff9a63;--c5:#aeb8c4;--warn:#3d3110;--warnfg:#ffdf91}}
*{box-sizing:border-box}body{margin:0 auto;max-width:62rem;padding:1.5rem 1rem 4rem;background:var(--bg);
color:var(--fg);font:16px/1.5 system-ui,sans-serif}h1{font-size:1.4rem;margin:.2rem 0}h2{font-size:1.1rem;
margin:2.2rem 0 .4rem}p{margin:.4rem 0}.mut{color:var(--mut)}.answer{background:var(--card);border:1px solid
var(--rule);border-radius:8px;padding:1rem 1.2rem;margin:1rem 0}.answer .big{font-size:2rem;font-weight:600}
.warn{background:var(--warn);color:var(--warnfg);border-radius:8px;padding:.6rem 1rem;margin:.6rem 0}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(11rem,1fr));gap:.6rem;margin:1rem 0}
.tiles div{border:1px solid var(--rule);border-radius:8px;padding:.5rem .8rem}.tiles b{display:block;font-size:1.2rem}
figure{margin:0;overflow-x:auto}figcaption{color:var(--mut);font-size:.9rem}
svg{width:100%;height:auto;min-width:34rem;font-size:12px}svg text{fill:var(--mut)}
svg .grid{stroke:var(--rule);stroke-width:.6}svg .zero{stroke:var(--mut);stroke-width:1}
svg .line{fill:none;stroke-width:1.3}svg .band{opacity:.22}svg .dot{opacity:.85}svg .bar{stroke-width:1.4}
svg .c1{stroke:var(--c1)}svg .c2{stroke:var(--c2)}svg .c3{stroke:var(--c3)}svg .c4{stroke:var(--c4)}svg .c5{stroke:var(--c5)}
svg .dot,svg .band{stroke:none}svg .dot.c1,svg .band.c1{fill:var(--c1)}svg .dot.c2,svg .band.c2{fill:var(--c2)}
svg .dot.c3,svg .band.c3{fill:var(--c3)}svg .dot.c4,svg .band.c4{fill:var(--c4)}svg .dot.c5,svg .band.c5{fill:var(--c5)}
.scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:.92rem}th,td{text-align:left;
padding:.3rem .6rem;border-bottom:1px solid var(--rule);vertical-align:top}td.n,th.n{text-align:right;
font-variant-numeric:tabular-nums}caption{text-align:left;color:var(--mut);padding:.2rem 0}
svg .fill{stroke:none}svg .fill.c1{fill:var(--c1)}svg .fill.c2{fill:var(--c2)}svg .fill.c3{fill:var(--c3)}svg .fill.c4{fill:var(--c4)}
svg .fill.c5{fill:var(--c5)}svg .whisker{stroke:var(--fg);stroke-width:1.2}svg .key{fill:var(--fg)}
@media print{body{max-width:none;background:#fff;color:#000}figure,.answer,tr{break-inside:avoid}}
)css";

}  // namespace ww::report
