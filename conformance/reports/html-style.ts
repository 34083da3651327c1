/** How a report page looks: by day and by night, on a desk, on a phone and on paper. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --page: #ffffff; --ink: #1f2328; --soft-ink: #57606a; --line: #d0d7de; --box: #f6f8fa;
  --link: #0550ae; --target: #fff8c5;
  --good: #116329; --bad: #a40e26; --warn: #7d4e00; --note: #0550ae; --idle: #57606a;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #0d1117; --ink: #e6edf3; --soft-ink: #9da7b3; --line: #30363d; --box: #161b22;
    --link: #79c0ff; --target: #3a2f0b;
    --good: #56d364; --bad: #ff9a92; --warn: #e3b341; --note: #79c0ff; --idle: #9da7b3;
  }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 3rem; }
body { background: var(--page); color: var(--ink); margin: 0 auto; max-width: 72rem;
  overflow-wrap: anywhere; padding: 1rem; font: 1rem/1.5 system-ui, sans-serif; }
h1 { font-size: 1.75rem; line-height: 1.2; margin: 0; }
h2 { font-size: 1.25rem; margin: 2rem 0 0.5rem; }
h3 { color: var(--soft-ink); font-size: 0.875rem; margin: 0.75rem 0 0.25rem; }
p { margin: 0.25rem 0; }
a { color: var(--link); }
a:focus-visible, summary:focus-visible, input:focus-visible { outline: 2px solid var(--link);
  outline-offset: 2px; }
.kind { color: var(--soft-ink); }
.target { font-weight: 600; }
.soft { color: var(--soft-ink); font-size: 0.875rem; }
.conforming, .pass { color: var(--good); }
.not-conforming, .fail, .error, .lost { color: var(--bad); }
.not-judged, .warn, .blocked, .refused { color: var(--warn); }
.note { color: var(--note); }
.not_observed, .not_applicable, .not_selected { color: var(--idle); }
.tally { display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; list-style: none; margin: 0.5rem 0;
  padding: 0; }
nav { background: var(--page); border-bottom: 1px solid var(--line); display: flex; gap: 1rem;
  padding: 0.5rem 0; position: sticky; top: 0; z-index: 1; }
.gate, .waiver { border-left: 4px solid var(--warn); margin: 1rem 0; padding: 0.5rem 1rem;
  background: var(--box); }
.gate { border-color: var(--bad); }
.filters { display: flex; flex-wrap: wrap; gap: 0.5rem 1rem; margin: 1.5rem 0 0; }
fieldset { border: 1px solid var(--line); border-radius: 0.375rem; display: flex; flex-wrap: wrap;
  gap: 0.25rem 1rem; margin: 0; min-width: 0; padding: 0.25rem 0.75rem 0.5rem; }
legend { color: var(--soft-ink); font-size: 0.875rem; }
label { cursor: pointer; padding: 0.25rem 0; }
.requirement, .timeline > li { border-top: 1px solid var(--line); padding: 0.5rem 0; }
:target { background: var(--target); }
summary { cursor: pointer; }
.mark { border: 1px solid currentColor; border-radius: 0.25rem; display: inline-block;
  font-size: 0.8125rem; font-weight: 600; padding: 0 0.375rem; text-decoration: none; }
.id { font-weight: 600; }
.timeline > li.event { border-top: 0; padding: 0 0 0.25rem 1.5rem; }
.timeline { list-style: none; margin: 0; padding: 0; }
svg { background: var(--box); display: block; height: 6px; margin-top: 0.25rem; width: 100%; }
rect { fill: var(--note); }
dl { display: grid; gap: 0.25rem 1rem; grid-template-columns: 6rem minmax(0, 1fr);
  margin: 0.5rem 0; }
dt { color: var(--soft-ink); }
dd { margin: 0; white-space: pre-wrap; }
dd.links { white-space: normal; }
dd ul { list-style: none; margin: 0; padding: 0; }
pre { background: var(--box); border-radius: 0.375rem; font: 0.8125rem/1.5 ui-monospace, monospace;
  margin: 0.25rem 0; max-height: 30rem; overflow: auto; padding: 0.5rem 0.75rem;
  white-space: pre-wrap; }
table { border-collapse: collapse; width: 100%; }
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
  :root { color-scheme: light; --page: #fff; --ink: #000; --soft-ink: #444; --line: #bbb;
    --box: #fff; --link: #000; --target: #fff; --good: #116329; --bad: #a40e26; --warn: #7d4e00;
    --note: #0550ae; --idle: #444; }
  body { font-size: 10pt; max-width: none; padding: 0; }
  nav, .filters { display: none; }
  pre { border: 1px solid var(--line); max-height: none; overflow: visible; }
  .requirement, .timeline > li { break-inside: avoid-page; }
}
`;
