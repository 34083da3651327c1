import type {
  CheckReport,
  EvidenceItem,
  RequirementVerdict,
  Verdict,
} from '../../src/contract/index.ts';
import { renderFactList, type Fact } from '../../src/report-kit/fact-list.ts';
import { cutText, formatCount } from '../../src/report-kit/format.ts';
import {
  createFilterRules,
  filterClassesOf,
  renderFilters,
  type Facet,
} from '../../src/report-kit/filters.ts';
import { html, withCode, type Html } from '../../src/report-kit/html.ts';
import { renderSearch, SEARCHABLE } from '../../src/report-kit/run-report.ts';
import { renderVerdict } from '../../src/report-kit/verdict.ts';
import { findRepeatedCommands, messageBesides } from './summary.ts';

const FIELD_LENGTH_MAX = 2_000;

/** Verdicts that need attention, most urgent first. */
const URGENT: readonly Verdict[] = ['error', 'fail', 'warn', 'note', 'blocked'];
/** Verdicts whose requirements are collapsed. */
const FOLDED: readonly Verdict[] = ['pass', 'not_observed', 'not_applicable', 'not_selected'];
const VERDICTS = [...URGENT, ...FOLDED];

const facets: readonly Facet<RequirementVerdict>[] = [
  { name: 'verdict', valueOf: ({ verdict }) => verdict, order: VERDICTS, isColored: true },
  { name: 'area', valueOf: ({ area }) => area },
  { name: 'level', valueOf: ({ level }) => level },
];

/** What findings refer to. */
export interface FindingLinks {
  /** The exchanges that the page shows. */
  shown: ReadonlySet<number>;
  /** Returns the command that sends the request of a finding again. */
  resendCommand: (row: RequirementVerdict) => string | undefined;
}

/**
 * Renders every requirement, most urgent first, with an anchor and links to its exchanges. The
 * requirements that need no attention are collapsed by verdict.
 */
export function renderFindings({ requirements }: CheckReport, links: FindingLinks): Html {
  const withVerdict = (verdict: Verdict): RequirementVerdict[] =>
    requirements
      .filter((row) => row.verdict === verdict)
      .sort((left, right) => Number(isAccepted(left)) - Number(isAccepted(right)));
  const urgent = URGENT.flatMap(withVerdict);
  const repeated = findRepeatedCommands(urgent);
  return html`${renderFilters(requirements, facets, 'requirements')} ${renderSearch('requirements')}
  ${urgent.map((row) => finding(row, links, repeated.get(row.id)))}
  ${FOLDED.map((verdict) => {
    const rows = withVerdict(verdict);
    if (rows.length === 0) return html``;
    return html`<details class="fold">
      <summary>
        ${renderVerdict(verdict, verdict.replaceAll('_', ' '))}
        ${formatCount(rows.length, 'requirement')}
      </summary>
      ${rows.map((row) => finding(row, links))}
    </details>`;
  })}`;
}

/** Returns the CSS rules of the filters. */
export const createFindingRules = ({ requirements }: CheckReport): string =>
  createFilterRules(requirements, facets);

const isAccepted = ({ accepted }: RequirementVerdict): boolean => accepted !== undefined;

const OPEN = ['error', 'fail', 'warn'];

/** `sameAs` is the requirement above that shows the same command. */
function finding(
  row: RequirementVerdict,
  { shown, resendCommand }: FindingLinks,
  sameAs?: string,
): Html {
  const { id, verdict, level, rule, section, statements, findings: count = 0, curl } = row;
  const command =
    sameAs === undefined
      ? curl !== undefined &&
        html`<pre>${[curl, resendCommand(row) ?? ''].join('\n').trimEnd()}</pre>`
      : html`<p class="soft">The same request as <a href="#${sameAs}">${sameAs}</a>.</p>`;
  const isOpen = OPEN.includes(verdict) && !isAccepted(row);
  return html`<article id="${id}" class="requirement ${SEARCHABLE} ${filterClassesOf(row, facets)}">
    <details ${isOpen ? 'open' : ''}>
      <summary>
        ${renderVerdict(verdict, verdict.replaceAll('_', ' '))}
        <b>${id}</b> <span>${withCode(rule)}</span>
      </summary>
      ${renderFactList([
        ['link', html`<a href="#${id}">#${id}</a>`],
        fact('spec', `${section} (${statements.join(', ')}), ${level}`),
        fact(
          'since',
          row.addedLater ? `${row.since ?? 'the next release'}: does not count` : row.since,
        ),
        fact('known failure', row.accepted),
        fact('reason', row.reason, withCode),
        ...listDetails(row),
        fact('places', count > 1 ? `${count}` : undefined),
        ['exchanges', exchanges(row.evidence, shown), 'links'],
      ])}
      ${command}
    </details>
  </article>`;
}

/** Lists what is known about a finding. */
export function listDetails(
  row: Pick<RequirementVerdict, 'pointer' | 'expected' | 'received' | 'message' | 'hint'>,
): Fact[] {
  return [
    fact('at', row.pointer === '' ? undefined : row.pointer),
    fact('expected', row.expected),
    fact('received', row.received),
    fact('message', messageBesides(row)),
    fact('hint', row.hint, withCode),
  ];
}

const fact = (
  name: string,
  text: string | undefined,
  render: (text: string) => Html | string = String,
): Fact => [name, text === undefined ? undefined : render(cutText(text, FIELD_LENGTH_MAX))];

function exchanges(items: readonly EvidenceItem[], shown: ReadonlySet<number>): Html | undefined {
  if (items.length === 0) return undefined;
  const links = items.map(({ exchange, step, request, outcome, traceId }) => {
    const name = shown.has(exchange)
      ? html`<a href="#e${exchange}">#${exchange}</a>`
      : html`#${exchange} (cut)`;
    const trace = traceId !== undefined && html`, trace id <code>${traceId}</code>`;
    return html`<li>${name} "${step}": ${request} &rarr; ${outcome}${trace}</li>`;
  });
  return html`<ul>
    ${links}
  </ul>`;
}
