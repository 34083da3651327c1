import type { CheckReport, EvidenceItem, RequirementVerdict } from '../../src/contract/index.ts';
import { html, type Html } from '../../src/report-kit/html.ts';
import { filterClasses, verdictsInOrder } from './html-filters.ts';
import { cut } from './html-timeline.ts';

const FIELD_LENGTH_MAX = 2_000;
const CURL_LENGTH_MAX = 8_000;

/** Every requirement, what is to be done first; an anchor each, and links to its exchanges. */
export function findings(report: CheckReport, shown: ReadonlySet<number>): Html {
  const rank = ({ verdict, accepted }: RequirementVerdict): number =>
    verdictsInOrder.indexOf(verdict) + (accepted === undefined ? 0 : 0.5);
  const rows = [...report.requirements].sort((one, other) => rank(one) - rank(other));
  return html`<section aria-labelledby="findings">
    <h2 id="findings">Requirements</h2>
    ${rows.map((one) => finding(one, shown))}
  </section>`;
}

const OPEN = ['error', 'fail', 'warn'];

function finding(one: RequirementVerdict, shown: ReadonlySet<number>): Html {
  const { id, verdict, level, rule, section, statements, findings: count = 0, curl } = one;
  const isOpen = OPEN.includes(verdict) && one.accepted === undefined;
  return html`<article id="${id}" class="requirement ${filterClasses(one)}">
    <details ${isOpen ? 'open' : ''}>
      <summary>
        <span class="mark ${verdict}">${verdict.replaceAll('_', ' ')}</span>
        <a class="id" href="#${id}">${id}</a> <span class="says">${rule}</span>
      </summary>
      <dl>
        ${field('spec', `${section} (${statements.join(', ')}), ${level}`)}
        ${field('accepted', one.accepted)} ${field('reason', one.reason)}
        ${field('at', one.pointer === '' ? undefined : one.pointer)}
        ${field('expected', one.expected)} ${field('received', one.received)}
        ${field('hint', one.hint)} ${count > 1 ? field('places', `${count}`) : undefined}
        ${exchanges(one.evidence, shown)}
      </dl>
      ${curl === undefined ? undefined : html`<pre>${cut(curl, CURL_LENGTH_MAX)}</pre>`}
    </details>
  </article>`;
}

function field(name: string, text: string | undefined): Html | undefined {
  if (text === undefined) return undefined;
  return html`<dt>${name}</dt>
    <dd>${cut(text, FIELD_LENGTH_MAX)}</dd>`;
}

function exchanges(items: readonly EvidenceItem[], shown: ReadonlySet<number>): Html | undefined {
  if (items.length === 0) return undefined;
  const links = items.map(({ exchange, step, request, outcome }) => {
    const name = shown.has(exchange)
      ? html`<a href="#e${exchange}">#${exchange}</a>`
      : html`#${exchange} (cut)`;
    return html`<li>${name} "${step}": ${request} &rarr; ${outcome}</li>`;
  });
  return html`<dt>exchanges</dt>
    <dd class="links">
      <ul>
        ${links}
      </ul>
    </dd>`;
}
