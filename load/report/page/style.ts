import { CHART_CSS } from '../../../src/report-kit/chart.ts';

/** CSS rules of the load report. */
export const LOAD_PAGE_CSS = `${CHART_CSS}
.badge { display: inline-block; border-radius: 1rem; padding: 0.1rem 0.75rem; font-weight: 650;
  font-size: 0.85rem; white-space: nowrap; border: 1px solid currentColor; }
.unknown { color: var(--warn); } .untested { color: var(--soft-ink); }
table { margin: 0.6rem 0; font-size: 0.92rem; }
th, td { border-bottom: 1px solid var(--line); padding: 0.5rem 0.7rem 0.5rem 0; text-align: left;
  vertical-align: top; }
th { color: var(--soft-ink); font-weight: 550; font-size: 0.82rem; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.why { color: var(--soft-ink); font-size: 0.86rem; }
td:last-child, th:last-child { padding-right: 0; }
table.cards td:first-child { width: 50%; }
td .soft { font-size: 0.92em; }
td.number + td:not(.number), th.number + th:not(.number) { padding-left: 0.8rem; }
td.name { white-space: nowrap; }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 0.25rem 1.2rem;
  margin: 0.6rem 0; font-size: 0.92rem; }
details { margin: 0.6rem 0; } summary { color: var(--soft-ink); }
code { font-size: 0.9em; }
@media (max-width: 640px) {
  table.cards thead { display: none; }
  table.cards tr { display: block; border-bottom: 1px solid var(--line); padding: 0.7rem 0; }
  table.cards td, table.cards td:first-child, table.cards td.number + td { display: block;
    width: auto; border: 0; padding: 0.1rem 0; text-align: left; }
  table.cards td.number, table.cards td.number + td.number { display: inline-block;
    margin-right: 0.9rem; }
  table.cards td.number:empty { display: none; }
  table.cards td[data-label]:not(:empty)::before { content: attr(data-label) ' ';
    color: var(--soft-ink); font-size: 0.82rem; }
  dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: 0.4rem; }
  table { font-size: 0.82rem; } th, td { padding-right: 0.4rem; }
}
@media print { h2 { break-after: avoid; } tr { break-inside: avoid; } details > * { display: block; } }
`;
