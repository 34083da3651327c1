import { FACT_LIST_CSS } from '../../../report-kit/fact-list.ts';
import { TRANSCRIPT_CSS } from '../../../report-kit/transcript.ts';

/**
 * CSS rules of all pages of the service. Rules of one page stand with that page. A `div` without a class
 * in `main` is the live part of a page.
 */
export const FRAME_CSS = `${FACT_LIST_CSS}${TRANSCRIPT_CSS}
body { max-width: 72rem; }
h1 { margin: 1.25rem 0 0.5rem; }
h3 { font-size: 1rem; margin: 1rem 0 0.25rem; }
.skip:not(:focus) { left: -100rem; position: absolute; }
main:focus { outline: none; }
main p, .remark, .log li { max-width: 50rem; }
nav { align-items: center; display: flex; flex-wrap: wrap; gap: 0.25rem 1.25rem; }
nav a { padding: 0.25rem 0; text-decoration: none; text-underline-offset: 0.4rem; }
nav a:hover { text-decoration: underline; }
nav a[aria-current] { color: var(--ink); text-decoration: underline 2px; }
nav.site { border-bottom: 1px solid var(--line); padding-bottom: 0.5rem; }
nav.site form:first-of-type { margin-left: auto; }
nav.site [type='search'] { font-size: 0.875rem; width: 10rem; }
@media (max-width: 40rem) {
  nav.site [role='search'] { flex: 1 0 100%; }
  nav.site [type='search'] { width: 100%; }
}
dialog { background: var(--page); border: 1px solid var(--line); border-radius: 0.5rem;
  color: var(--ink); max-width: 24rem; }
dialog h2 { margin: 0 0 0.5rem; }
kbd { background: var(--box); border: 1px solid var(--line); border-radius: 0.25rem;
  font: 0.8125rem ui-monospace, monospace; padding: 0 0.3rem; }
nav.tabs { margin: 0.5rem 0; }
nav.path, main > p:first-child { font-size: 0.875rem; margin: 1rem 0 -0.75rem; }
nav.path a { text-decoration: underline; text-underline-offset: auto; }
ul, ol { list-style: none; margin: 0; padding: 0; }
:where(main, main > div:not([class])) > details { border-top: 1px solid var(--line);
  padding: 0.5rem 0; }
:where(main, main > div:not([class])) > details:not(:has(+ details)) {
  border-bottom: 1px solid var(--line); }
:where(main, main > div:not([class])) > :where(:not(details, h2, h3)) + details {
  margin-top: 1.5rem; }
:where(main, main > div:not([class])) > details > summary { font-weight: 550; }
li.outcome { border-top: 1px solid var(--line); padding: 0.6rem 0; }
.verdict, .ready { font-size: 1.125rem; margin: 0.75rem 0; }
code.tag { background: var(--box); border-radius: 0.3rem; display: inline-block; margin: 0.1rem 0;
  padding: 0 0.4rem; }
.counts { display: grid; gap: 0.5rem; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr));
  margin: 1rem 0; }
.counts li { background: var(--box); border: 1px solid var(--line); border-radius: 0.5rem;
  padding: 0.5rem 0.75rem; }
.counts a { display: block; }
.counts b { display: block; font-size: 1.5rem; font-variant-numeric: tabular-nums;
  line-height: 1.3; }
.remark, .notice { background: var(--box); border-left: 4px solid var(--warn);
  border-radius: 0 0.375rem 0.375rem 0; margin: 0.75rem 0; padding: 0.5rem 1rem; }
.notice { border-color: var(--good); }
.connection { margin: 0; }
.connection:not(:empty) { border-left: 4px solid var(--warn); padding: 0.2rem 1rem; }
.log li { border-left: 4px solid var(--line); margin: 0.5rem 0; padding-left: 0.75rem; }
.log .soft { display: block; }
.log .level-error { border-color: var(--bad); } .log .level-warn { border-color: var(--warn); }
.filters { align-items: end; display: flex; flex-wrap: wrap; gap: 0.5rem 1rem; margin: 1rem 0; }
.filters label { display: flex; flex-direction: column; min-width: 14rem; }
@media (max-width: 40rem) { .filters label { flex: 1; min-width: 10rem; } }
.filters label:has([type='checkbox']) { align-items: center; flex: none; flex-direction: row;
  gap: 0.3rem; min-width: 0; }
.form { margin: 1rem 0; }
.form label { display: block; margin: 0.75rem 0; }
.form label:has([type='checkbox'], [type='radio']) { margin: 0.3rem 0; }
.form :is(input:not([type='checkbox'], [type='radio']), select) { display: block;
  margin-top: 0.2rem; width: 32rem; }
.form textarea { display: block; font: 0.8125rem/1.5 ui-monospace, monospace; margin-top: 0.2rem;
  min-height: 8rem; width: 100%; }
.row { align-items: end; display: flex; flex-wrap: wrap; gap: 0 1rem; }
.row .field { flex: 1 1 10rem; max-width: 24rem; } .form .row label { margin: 0.4rem 0; }
.form .row :is(input, select) { width: 100%; }
.field .soft { display: block; max-width: 44rem; }
p:has(> button) { align-items: center; display: flex; flex-wrap: wrap; gap: 0.5rem 0.75rem; }
.form p:has(> button) { margin-top: 1rem; }
fieldset { border: 1px solid var(--line); border-radius: 0.5rem; margin: 0.75rem 0; min-width: 0;
  padding: 0.5rem 1rem; }
legend { font-weight: 550; padding: 0 0.3rem; }
input, button, select, textarea { background: var(--page); border: 1px solid var(--soft-ink);
  border-radius: 0.375rem; color: inherit; font: inherit; max-width: 100%;
  padding: 0.25rem 0.5rem; }
::placeholder { color: var(--soft-ink); font-size: 0.875rem; opacity: 1; }
select { min-height: calc(1lh + 0.5rem + 2px); }
a.button { border: 1px solid; border-radius: 0.375rem; display: inline-block;
  text-decoration: none; }
button, a.button { background: var(--link); border-color: var(--link); color: var(--page);
  cursor: pointer; padding: 0.25rem 0.85rem; }
button.quiet { background: var(--page); border-color: var(--soft-ink); color: var(--ink); }
button.danger { background: var(--page); border-color: var(--bad); color: var(--bad); }
button:focus-visible, select:focus-visible, textarea:focus-visible {
  outline: 2px solid var(--link); outline-offset: 2px; }
[aria-invalid='true'] { border-color: var(--bad); }
td span + span { margin-left: 0.5rem; }
.rate { width: 9rem; } .rate .soft { float: right; }
.rate svg { background: var(--line); clear: both; display: block; height: 6px; width: 100%; }
.rate rect { fill: var(--good); }
td.time { min-width: 12rem; }
.time svg { background: var(--box); display: block; height: 10px; width: 100%; }
.time .bar { fill: var(--note); } .time .failing { fill: var(--bad); }
.pages { display: flex; gap: 1rem; }
@media print { nav, dialog, .filters, .form { display: none; } }
`;
