import { CHART_CSS } from '../../../src/report-kit/chart.ts';

/** CSS rules of the load report. */
export const LOAD_PAGE_CSS = `${CHART_CSS}
.untested { color: var(--soft-ink); }
table { font-size: 0.92rem; }
.why { color: var(--soft-ink); font-size: 0.86rem; }
.targets thead th:first-child { width: 50%; }
dl { display: grid; grid-template-columns: fit-content(45%) minmax(0, 1fr); gap: 0.25rem 1.2rem;
  margin: 0.6rem 0; font-size: 0.92rem; }
details { margin: 0.6rem 0; } summary { color: var(--soft-ink); }
code { font-size: 0.9em; }
@media (max-width: 640px) { dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: 0.4rem; } }
@media print { h2 { break-after: avoid; } tr { break-inside: avoid; } details > * { display: block; } }
`;
