/** The frame of every HTML report of a run: verdict, navigation, filters, sections, and the JSON. */
import { html, Html } from './html.ts';
import { renderPage } from './page.ts';
import { readScripts, type ScriptName } from './scripts.ts';
import { renderVerdict, type Standing } from './verdict.ts';

/** The content of the report of a run. */
export interface RunReport {
  /** The command that wrote it, such as `sandbox-kit check`. */
  command: string;
  /** The verdict in a few words. */
  headline: string;
  standing: Standing;
  /** What was tested, usually a URL. */
  subject: string;
  /** What the verdict means, in a sentence. */
  sentence?: string | undefined;
  /** Counts, such as `12 pass`, each with its class. */
  tally: readonly (readonly [className: string, text: string])[];
  /** How the run was made: seed, version, times. */
  facts: string;
  /** What concerns the whole run, such as the cause of an aborted one. */
  remarks?: readonly (Html | undefined)[];
  /** Sections in the order of the page. An undefined section is omitted. */
  sections: readonly (ReportSection | undefined)[];
  /** CSS rules in addition to those of the frame. */
  css?: string;
  /** Scripts in addition to those of tables and the search. */
  scripts?: readonly ScriptName[];
  /** The JSON report. The page contains it for programs, unless it is very large. */
  json: object;
}

/** A section with a heading that the navigation links to. */
export interface ReportSection {
  /** Anchor of the section. */
  id: string;
  title: string;
  body: Html;
}

/** The most characters of the JSON in a page. */
const JSON_LENGTH_MAX = 16_000_000;

/** The class of rows that the search field searches (`search-rows.js`). */
export const SEARCHABLE = 'searchable';

/**
 * Renders the report of a run as one HTML page. It can be read and filtered without a script; a script
 * adds the search. The page makes no request.
 */
export function renderRunReport(report: RunReport): string {
  const { command, headline, standing, subject, sentence, tally, facts } = report;
  const { css = '', scripts = [] } = report;
  const sections = report.sections.filter((section) => section !== undefined);
  return renderPage({
    title: `${headline}: ${subject}`,
    css: `${FRAME_CSS}${css}`,
    script: readScripts(['find-elements', 'label-tables', 'search-rows', ...scripts]),
    body: html`<header>
        <p class="kind">${command}</p>
        <h1>${renderVerdict(standing, headline)}</h1>
        <p class="subject">${subject}</p>
        ${sentence !== undefined && html`<p class="sentence">${sentence}</p>`}
        <ul class="tally" aria-label="Counts">
          ${tally.map(([className, text]) => html`<li class="${className}">${text}</li>`)}
        </ul>
        <p class="soft">${facts}</p>
      </header>
      <nav aria-label="Sections of the report">
        ${sections.map(({ id, title }) => html`<a href="#${id}">${title}</a>`)}
      </nav>
      <main>
        ${report.remarks?.filter((remark) => remark !== undefined)}
        ${sections.map(
          ({ id, title, body }) =>
            html`<section aria-labelledby="${id}">
              <h2 id="${id}">${title}</h2>
              ${body}
            </section>`,
        )}
      </main>
      ${renderJson(report.json)}`,
  });
}

/**
 * Renders the search field for the rows with the class `searchable`. It is hidden until the script of
 * the page runs. `noun` names the rows, such as `requirements`.
 */
export function renderSearch(noun: string): Html {
  return html`<search hidden>
    <label>Search ${noun} <input type="search" id="search" autocomplete="off" /></label>
    <output for="search" role="status"></output>
  </search>`;
}

/** Renders a remark on the whole run in a box. */
export function renderRemark(standing: Standing, content: Html | string): Html {
  return html`<div class="remark ${standing}">${content}</div>`;
}

/** Renders the JSON report as an element that no script runs; nothing for a very large one. */
function renderJson(value: object): Html | undefined {
  const json = JSON.stringify(value);
  if (json.length > JSON_LENGTH_MAX) return undefined;
  // Markup can't end the element, and no invisible character gets into the page.
  const inert = json.replaceAll(
    /[<\u007F-\u009F\u200E\u200F\u2028-\u202E\u2066-\u2069]/g,
    (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return new Html(`<script type="application/json" id="report">${inert}</script>`);
}

const FRAME_CSS = `
html { scroll-padding-top: 3rem; }
body { max-width: 72rem; }
h1 { font-size: 1.75rem; }
h3 { color: var(--soft-ink); font-size: 1rem; margin: 1rem 0 0.25rem; }
.kind { color: var(--soft-ink); }
.subject { font-weight: 600; }
.sentence { margin: 0.4rem 0; }
.tally { display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; list-style: none; margin: 0.5rem 0;
  padding: 0; }
nav { background: var(--page); border-bottom: 1px solid var(--line); display: flex; flex-wrap: wrap;
  gap: 0 1rem; padding: 0.5rem 0; position: sticky; top: 0; z-index: 1; }
.remark { background: var(--box); border-left: 4px solid var(--warn); color: inherit; margin: 1rem 0;
  padding: 0.5rem 1rem; }
.remark.fail { border-color: var(--bad); } .remark.pass { border-color: var(--good); }
.filters { display: flex; flex-wrap: wrap; gap: 0.5rem 1rem; margin: 1rem 0; }
fieldset { border: 1px solid var(--line); border-radius: 0.375rem; display: flex; flex-wrap: wrap;
  gap: 0.25rem 1rem; margin: 0; min-width: 0; padding: 0.25rem 0.75rem 0.5rem; }
legend { color: var(--soft-ink); font-size: 0.875rem; }
label { cursor: pointer; padding: 0.25rem 0; }
input[type='search'] { background: var(--page); border: 1px solid var(--line); color: inherit;
  border-radius: 0.375rem; font: inherit; max-width: 100%; padding: 0.25rem 0.5rem; width: 20rem; }
:target { background: var(--target); }
.id { font-weight: 600; }
@media (max-width: 40rem) {
  body { padding: 0.75rem; } label { padding: 0.5rem 0; } nav { position: static; }
}
@media print { nav, .filters, search { display: none; } }
`;
