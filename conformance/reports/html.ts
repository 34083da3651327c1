import { createHash } from 'node:crypto';
import type { CheckReport, Verdict } from '../../src/contract/index.ts';
import { html, Html } from '../../src/report-kit/html.ts';
import type { Transcript } from '../engine/transcript/transcript.ts';
import { filterRules, filters } from './html-filters.ts';
import { findings } from './html-findings.ts';
import { chosenExchanges, timeline } from './html-timeline.ts';
import { STYLE } from './html-style.ts';
import { headlineOf, staleSentence, type Headline } from './headline.ts';
import { visible } from './layout.ts';
import { openCauses } from './terminal.ts';

const headings: Record<Headline, string> = {
  conforming: 'Conforming',
  'not-conforming': 'Not conforming',
  'not-judged': 'Not judged',
  'baseline-stale': 'Baseline is stale',
};

/**
 * The report as one page that needs nothing but itself: no script, no request to anywhere. What a
 * sandbox put into its answers is text in it. What is over the limits is cut, and said to be.
 */
export function htmlReport(given: CheckReport, transcript: Transcript): string {
  const report = visible(given);
  const style = `${STYLE}${filterRules(report)}`;
  const exchanges = chosenExchanges(report, transcript);
  const shown = new Set(exchanges.map(({ id }) => id));
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="content-security-policy" content="${policyOf(style)}" />
        <meta name="referrer" content="no-referrer" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${headings[headlineOf(report)]}: ${report.target}</title>
        ${new Html(`<style>${style}</style>`)}
      </head>
      <body>
        <header>${head(report)}</header>
        <nav aria-label="Parts of the report">
          <a href="#findings">Requirements</a> <a href="#dialect">Dialect</a>
          <a href="#timeline">Timeline</a>
        </nav>
        <main>
          ${first(report)} ${filters(report)} ${findings(report, shown)} ${dialect(report)}
          ${timeline(report, transcript, exchanges)}
        </main>
      </body>
    </html> `.text;
}

/** Lets the page have its own style, and nothing else: whatever is in it, nothing is fetched. */
function policyOf(style: string): string {
  const hash = createHash('sha256').update(style).digest('base64');
  return `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`;
}

function head(report: CheckReport): Html {
  const { verdict, counts, target, suite, seed, kitVersion, startedAt, endedAt } = report;
  const tally = Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(
      ([name, count]) =>
        html`<li class="${name as Verdict}"><b>${count}</b> ${name.replaceAll('_', ' ')}</li>`,
    );
  return html`<p class="kind">sandbox-kit check</p>
    <h1 class="verdict ${verdict}">${headings[headlineOf(report)]}</h1>
    <p class="target">${target}</p>
    <ul class="tally" aria-label="Requirements by verdict">
      ${tally}
    </ul>
    <p class="soft">
      Suite ${suite}, seed ${seed}, sandbox-kit ${kitVersion}, from ${startedAt} to ${endedAt}.
    </p>`;
}

/** What comes before all single requirements: why nothing was judged, and what to mend first. */
function first(report: CheckReport): Html {
  const { blockedBy, waived, notices = [], staleKnownFailures: stale = [] } = report;
  const causes = openCauses(report);
  return html`${
    blockedBy &&
    html`<section class="gate" aria-label="The one cause">
      <p><b>${blockedBy.message}</b></p>
      <p>${blockedBy.cure}</p>
      ${blockedBy.evidence.map(
        ({ exchange, request, outcome }) =>
          html`<p><a href="#e${exchange}">#${exchange}</a> ${request} &rarr; ${outcome}</p>`,
      )}
    </section>`
  }
  ${waived.map((waiver) => html`<p class="waiver">Waived: ${waiver}</p>`)}
  ${notices.map((notice) => html`<p class="waiver">${notice}</p>`)}
  ${stale.length > 0 ? html`<p class="gate">${staleSentence(stale)}</p>` : undefined}
  ${
    causes.length > 0
      ? html`<section class="causes" aria-labelledby="causes">
          <h2 id="causes">What to mend first</h2>
          <ol>
            ${causes.map(
              ({ description, clears }) =>
                html`<li>
                  ${description}: clears ${clears.map((id) => html`<a href="#${id}">${id}</a>`)}
                </li>`,
            )}
          </ol>
        </section>`
      : undefined
  }`;
}

function dialect({ observedBehavior: found }: CheckReport): Html {
  const rows = Object.entries(found).map(
    ([name, value]) =>
      html`<tr>
        <th scope="row">${name}</th>
        <td>${value}</td>
      </tr>`,
  );
  return html`<section aria-labelledby="dialect">
    <h2 id="dialect">Dialect</h2>
    <p class="soft">What it does where the specification is silent; none of it is judged.</p>
    ${
      rows.length > 0
        ? html`<table>
            <tbody>
              ${rows}
            </tbody>
          </table>`
        : html`<p>Nothing was seen of it.</p>`
    }
  </section>`;
}
