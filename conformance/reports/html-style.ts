/** CSS rules of the check report, in addition to those of the frame. */
export const CHECK_PAGE_CSS = `
.lost { color: var(--bad); } .refused { color: var(--warn); }
.not_observed, .not_applicable, .not_selected { color: var(--idle); }
.requirement, .fold, .timeline > li { border-top: 1px solid var(--line); padding: 0.5rem 0; }
.fold > .requirement { margin-left: 1rem; }
.timeline > li.event { border-top: 0; padding: 0 0 0.25rem 1.5rem; }
.timeline { list-style: none; margin: 0; padding: 0; }
svg { background: var(--box); display: block; height: 6px; margin-top: 0.25rem; width: 100%; }
rect { fill: var(--note); }
dl { display: grid; gap: 0.25rem 1rem; grid-template-columns: fit-content(45%) minmax(0, 1fr);
  margin: 0.5rem 0; }
dd { margin: 0; white-space: pre-wrap; }
dd.links { white-space: normal; }
dd ul { list-style: none; margin: 0; padding: 0; }
@media (max-width: 40rem) {
  dl { display: block; }
  dt { font-size: 0.875rem; margin-top: 0.5rem; }
}
@media print {
  pre { border: 1px solid var(--line); }
  .requirement, .timeline > li { break-inside: avoid-page; }
}
`;
