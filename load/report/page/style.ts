import { Html } from '../../../src/report-kit/html.ts';

/** The look of the page: system fonts, both schemes of colour, paper. */
export const style = new Html(`
:root { color-scheme: light dark; --bg: #fff; --fg: #1c2024; --soft: #60666d; --line: #d9dde2;
  --panel: #f6f7f9; --good: #17803d; --bad: #c62828; --warn: #9a6700; --shade: #8881;
  --c1: #1565c0; --c2: #d9730d; --c3: #17803d; --c4: #7b4fc9; --c5: #9aa0a6; --target: #c62828;
  --k0: #c62828; --k1: #d9730d; --k2: #7b4fc9; --k3: #1565c0; --k4: #00838f; --k5: #80868b; }
@media (prefers-color-scheme: dark) { :root { --bg: #15181c; --fg: #e6e8ea; --soft: #9aa2ab;
  --line: #343a41; --panel: #1d2126; --good: #4ac26b; --bad: #ff7b72; --warn: #e3b341;
  --c1: #6cb0ff; --c2: #ffa657; --c3: #4ac26b; --c4: #c4a3ff; --c5: #70777f; --target: #ff7b72;
  --k0: #ff7b72; --k1: #ffa657; --k2: #c4a3ff; --k3: #6cb0ff; --k4: #4dd0e1; --k5: #9aa2ab; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 60rem; padding: 1.5rem 1.25rem 3rem; background: var(--bg);
  color: var(--fg); font: 1rem/1.5 system-ui, sans-serif; }
h1 { font-size: 1.45rem; line-height: 1.3; margin: 0.4rem 0 0.3rem; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 2.4rem 0 0.3rem; }
h3 { font-size: 0.95rem; margin: 1.6rem 0 0; }
p { margin: 0.3rem 0; overflow-wrap: anywhere; }
.soft { color: var(--soft); font-size: 0.9rem; }
.badge { display: inline-block; border-radius: 1rem; padding: 0.1rem 0.75rem; font-weight: 650;
  font-size: 0.85rem; white-space: nowrap; border: 1px solid currentColor; }
.badge.big { font-size: 1rem; padding: 0.2rem 1rem; }
.pass { color: var(--good); } .fail { color: var(--bad); } .unknown { color: var(--warn); }
.untested { color: var(--soft); }
.callout { border-left: 4px solid var(--warn); background: var(--panel); margin: 1rem 0;
  padding: 0.6rem 0.9rem; border-radius: 0 0.4rem 0.4rem 0; overflow-wrap: anywhere; }
.callout.fail { border-color: var(--bad); color: inherit; }
.callout.pass { border-color: var(--good); color: inherit; }
table { border-collapse: collapse; width: 100%; margin: 0.6rem 0; font-size: 0.92rem; }
th, td { border-bottom: 1px solid var(--line); padding: 0.5rem 0.7rem 0.5rem 0; text-align: left;
  vertical-align: top; }
th { color: var(--soft); font-weight: 550; font-size: 0.82rem; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.why { color: var(--soft); font-size: 0.86rem; }
td { overflow-wrap: anywhere; }
td:last-child, th:last-child { padding-right: 0; }
table.cards td:first-child { width: 50%; }
td .soft { font-size: 0.92em; }
td.number + td:not(.number), th.number + th:not(.number) { padding-left: 0.8rem; }
td.name { white-space: nowrap; }
.scroll { overflow-x: auto; }
figure { margin: 1rem 0 0; break-inside: avoid; }
figcaption { color: var(--soft); font-size: 0.86rem; margin-bottom: 0.2rem; }
svg { display: block; width: 100%; height: auto; }
svg.narrow { display: none; }
.grid { stroke: var(--line); stroke-width: 1; }
.tick, .mark { fill: var(--soft); font: 11px system-ui, sans-serif; }
.mark { fill: var(--target); }
.end { text-anchor: end; } .middle { text-anchor: middle; }
.line { fill: none; stroke-width: 1.6; stroke-linejoin: round; }
.area { opacity: 0.18; }
.dashed { stroke-dasharray: 5 4; }
.line.c1 { stroke: var(--c1); } .line.c2 { stroke: var(--c2); } .line.c3 { stroke: var(--c3); }
.line.c4 { stroke: var(--c4); } .line.c5 { stroke: var(--c5); } .area.c4 { fill: var(--c4); }
.target { stroke: var(--target); stroke-width: 1.4; stroke-dasharray: 2 3; }
.shade { fill: var(--shade); }
.heat { fill: var(--c1); }
.bar.k0 { fill: var(--k0); } .bar.k1 { fill: var(--k1); } .bar.k2 { fill: var(--k2); }
.bar.k3 { fill: var(--k3); } .bar.k4 { fill: var(--k4); } .bar.k5 { fill: var(--k5); }
.good circle { fill: var(--good); } .bad circle { fill: none; stroke: var(--bad); stroke-width: 2; }
.dot.c1 circle { fill: var(--c1); } .dot.c2 circle { fill: var(--c2); }
.key { white-space: nowrap; margin-right: 0.8rem; }
.key::before { content: ''; display: inline-block; width: 1.1em; height: 0; margin-right: 0.35em;
  border-top: 3px solid; vertical-align: middle; }
.key.dash::before { border-top-style: dashed; }
.key.c1::before { border-color: var(--c1); } .key.c2::before { border-color: var(--c2); }
.key.c3::before { border-color: var(--c3); } .key.c4::before { border-color: var(--c4); }
.key.c5::before { border-color: var(--c5); }
.key.k0::before { border-color: var(--k0); } .key.k1::before { border-color: var(--k1); }
.key.k2::before { border-color: var(--k2); } .key.k3::before { border-color: var(--k3); }
.key.k4::before { border-color: var(--k4); } .key.k5::before { border-color: var(--k5); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.25rem 1.2rem; margin: 0.6rem 0;
  font-size: 0.92rem; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
details { margin: 0.6rem 0; } summary { cursor: pointer; color: var(--soft); }
code { font-size: 0.9em; overflow-wrap: anywhere; }
@media (max-width: 640px) {
  body { padding: 1rem 0.9rem 2rem; }
  svg.wide { display: none; } svg.narrow { display: block; }
  table.cards thead { display: none; }
  table.cards tr { display: block; border-bottom: 1px solid var(--line); padding: 0.7rem 0; }
  table.cards td, table.cards td:first-child, table.cards td.number + td { display: block; width: auto; border: 0; padding: 0.1rem 0; text-align: left; }
  table.cards td.number, table.cards td.number + td.number { display: inline-block;
    margin-right: 0.9rem; }
  table.cards td.number:empty { display: none; }
  table.cards td[data-label]:not(:empty)::before { content: attr(data-label) ' ';
    color: var(--soft); font-size: 0.82rem; }
  dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: 0.4rem; }
  table { font-size: 0.82rem; } th, td { padding-right: 0.4rem; }
}
@media print {
  :root { color-scheme: light; } body { max-width: none; padding: 0; font-size: 10.5pt; }
  h2 { break-after: avoid; } tr { break-inside: avoid; } details > * { display: block; }
}
`);
