/** CSS rules of the check report. */
export const CHECK_PAGE_CSS = `
html { scroll-padding-top: 3rem; }
body { max-width: 72rem; }
h1 { font-size: 1.75rem; }
h3 { color: var(--soft-ink); font-size: 0.875rem; margin: 0.75rem 0 0.25rem; }
.kind { color: var(--soft-ink); }
.target { font-weight: 600; }
.conforming { color: var(--good); }
.not-conforming, .lost { color: var(--bad); }
.not-judged, .warn, .blocked, .refused { color: var(--warn); }
.note { color: var(--note); }
.not_observed, .not_applicable, .not_selected { color: var(--idle); }
.tally { display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; list-style: none; margin: 0.5rem 0;
  padding: 0; }
nav { background: var(--page); border-bottom: 1px solid var(--line); display: flex; gap: 1rem;
  padding: 0.5rem 0; position: sticky; top: 0; z-index: 1; }
.blocking, .waiver { border-left: 4px solid var(--warn); margin: 1rem 0; padding: 0.5rem 1rem;
  background: var(--box); }
.blocking { border-color: var(--bad); }
.filters { display: flex; flex-wrap: wrap; gap: 0.5rem 1rem; margin: 1.5rem 0 0; }
fieldset { border: 1px solid var(--line); border-radius: 0.375rem; display: flex; flex-wrap: wrap;
  gap: 0.25rem 1rem; margin: 0; min-width: 0; padding: 0.25rem 0.75rem 0.5rem; }
legend { color: var(--soft-ink); font-size: 0.875rem; }
label { cursor: pointer; padding: 0.25rem 0; }
.requirement, .timeline > li { border-top: 1px solid var(--line); padding: 0.5rem 0; }
:target { background: var(--target); }
.mark { border: 1px solid currentColor; border-radius: 0.25rem; display: inline-block;
  font-size: 0.8125rem; font-weight: 600; padding: 0 0.375rem; text-decoration: none; }
.id { font-weight: 600; }
.timeline > li.event { border-top: 0; padding: 0 0 0.25rem 1.5rem; }
.timeline { list-style: none; margin: 0; padding: 0; }
svg { background: var(--box); display: block; height: 6px; margin-top: 0.25rem; width: 100%; }
rect { fill: var(--note); }
dl { display: grid; gap: 0.25rem 1rem; grid-template-columns: 6rem minmax(0, 1fr);
  margin: 0.5rem 0; }
dd { margin: 0; white-space: pre-wrap; }
dd.links { white-space: normal; }
dd ul { list-style: none; margin: 0; padding: 0; }
pre { max-height: 30rem; white-space: pre-wrap; }
th, td { border-top: 1px solid var(--line); padding: 0.25rem 0.5rem 0.25rem 0; text-align: left;
  vertical-align: top; }
th { font-weight: 400; width: 50%; }
@media (max-width: 40rem) {
  body { padding: 0.75rem; }
  dl { display: block; }
  dt { font-size: 0.875rem; margin-top: 0.5rem; }
  label { padding: 0.5rem 0; }
}
@media print {
  nav, .filters { display: none; }
  pre { border: 1px solid var(--line); max-height: none; overflow: visible; }
  .requirement, .timeline > li { break-inside: avoid-page; }
}
`;
