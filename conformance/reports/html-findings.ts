import type { CheckReport, EvidenceItem, RequirementVerdict } from '../../src/contract/index.ts';
import { html, Html } from '../../src/report-kit/html.ts';
import { filterClasses, verdictsInOrder } from './html-filters.ts';
import { cut } from './html-timeline.ts';

const FIELD_LENGTH_MAX = 2_000;
const CURL_LENGTH_MAX = 8_000;

/** Renders every requirement, most urgent first, with an anchor and links to its exchanges. */
export function findings(report: CheckReport, shown: ReadonlySet<number>): Html {
  const rank = ({ verdict, accepted }: RequirementVerdict): number =>
    verdictsInOrder.indexOf(verdict) + (accepted === undefined ? 0 : 0.5);
  const rows = [...report.requirements].sort((left, right) => rank(left) - rank(right));
  return html`<section aria-labelledby="findings">
    <h2 id="findings">Requirements</h2>
    ${rows.map((row) => finding(row, shown))}
  </section>`;
}

const OPEN = ['error', 'fail', 'warn'];

function finding(row: RequirementVerdict, shown: ReadonlySet<number>): Html {
  const { id, verdict, level, rule, section, statements, findings: count = 0, curl } = row;
  const isOpen = OPEN.includes(verdict) && row.accepted === undefined;
  return html`<article id="${id}" class="requirement ${filterClasses(row)}">
    <details ${isOpen ? 'open' : ''}>
      <summary>
        <span class="mark ${verdict}">${verdict.replaceAll('_', ' ')}</span>
        <a class="id" href="#${id}">${id}</a> <span>${withCode(rule)}</span>
      </summary>
      <dl>
        ${field('spec', `${section} (${statements.join(', ')}), ${level}`)}
        ${field('since', row.addedLater ? `${row.since ?? 'the next release'}: does not count` : row.since)}
        ${field('known failure', row.accepted)} ${field('reason', row.reason, withCode)}
        ${field('at', row.pointer === '' ? undefined : row.pointer)}
        ${field('expected', row.expected)} ${field('received', row.received)}
        ${field('hint', row.hint, withCode)} ${count > 1 ? field('places', `${count}`) : undefined}
        ${exchanges(row.evidence, shown)}
      </dl>
      ${curl === undefined ? undefined : html`<pre>${cut(curl, CURL_LENGTH_MAX)}</pre>`}
    </details>
  </article>`;
}

function field(
  name: string,
  text: string | undefined,
  render: (text: string) => Html = (plain) => html`${plain}`,
): Html | undefined {
  if (text === undefined) return undefined;
  return html`<dt>${name}</dt>
    <dd>${render(cut(text, FIELD_LENGTH_MAX))}</dd>`;
}

/** Renders the parts of a text in backticks as code. */
export function withCode(text: string): Html {
  const parts = text
    .split(/`([^`]+)`/)
    .map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));
  return new Html(parts.map((part) => part.text).join(''));
}

function exchanges(items: readonly EvidenceItem[], shown: ReadonlySet<number>): Html | undefined {
  if (items.length === 0) return undefined;
  const links = items.map(({ exchange, step, request, outcome, traceId }) => {
    const name = shown.has(exchange)
      ? html`<a href="#e${exchange}">#${exchange}</a>`
      : html`#${exchange} (cut)`;
    const trace = traceId === undefined ? undefined : html`, trace id <code>${traceId}</code>`;
    return html`<li>${name} "${step}": ${request} &rarr; ${outcome}${trace}</li>`;
  });
  return html`<dt>exchanges</dt>
    <dd class="links">
      <ul>
        ${links}
      </ul>
    </dd>`;
}
