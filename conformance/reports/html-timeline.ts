import type { CheckReport, RequirementVerdict } from '../../src/contract/index.ts';
import { cutText, formatCount, formatSeconds } from '../../src/report-kit/format.ts';
import { html, type Html } from '../../src/report-kit/html.ts';
import { renderRemark, type ReportSection } from '../../src/report-kit/run-report.ts';
import {
  type Exchange,
  type Transcript,
  describeOutcome,
  durationMs,
} from '../engine/transcript/reading.ts';
import { callRows, type TimedRow } from './html-call-events.ts';
import { toVisible } from '../../src/report-kit/printable.ts';
import { renderVerdict } from '../../src/report-kit/verdict.ts';

/** The most exchanges to show. */
const EXCHANGES_MAX = 1_000;
/** The most characters of one body, and of all bodies together. */
const BODY_LENGTH_MAX = 4_000;
const BODIES_LENGTH_MAX = 4_000_000;
const HEADERS_MAX = 40;
const HEADER_LENGTH_MAX = 300;
const NAME_LENGTH_MAX = 200;

const FAILING = ['error', 'fail', 'warn'];

/** Groups the requirements that are not met by the exchanges that show it. */
function failuresByExchange({ requirements }: CheckReport): Map<number, RequirementVerdict[]> {
  const byExchange = new Map<number, RequirementVerdict[]>();
  for (const row of requirements) {
    if (!FAILING.includes(row.verdict)) continue;
    const items = row.evidence.slice(0, row.findings ?? 1);
    for (const { exchange } of items) {
      byExchange.set(exchange, [...(byExchange.get(exchange) ?? []), row]);
    }
  }
  return byExchange;
}

/** Selects the exchanges to show, preferring evidence of findings, in the order of sending. */
export function chosenExchanges(report: CheckReport, { exchanges }: Transcript): Exchange[] {
  const named = new Set([...failuresByExchange(report).keys(), ...blockingIds(report)]);
  return [...exchanges]
    .sort((left, right) => Number(named.has(right.id)) - Number(named.has(left.id)))
    .slice(0, EXCHANGES_MAX)
    .sort((left, right) => left.startedMs - right.startedMs || left.id - right.id);
}

const blockingIds = ({ blockedBy }: CheckReport): number[] =>
  (blockedBy?.evidence ?? []).map(({ exchange }) => exchange);

/**
 * Renders the exchanges of the run by time, each with an anchor: first those that show a finding, then
 * all others, collapsed.
 */
export function timelineSections(
  report: CheckReport,
  transcript: Transcript,
  chosen: readonly Exchange[],
): ReportSection[] {
  const { length } = transcript.exchanges;
  const endMs = Math.max(1, ...chosen.map(({ endedMs }) => endedMs));
  const byExchange = failuresByExchange(report);
  const named = new Set([...byExchange.keys(), ...blockingIds(report)]);
  const budget = { left: BODIES_LENGTH_MAX };
  const renderRows = (exchanges: readonly Exchange[], open: boolean): Html => {
    const shown = exchanges.map(toVisible);
    const rows: TimedRow[] = shown.map((exchange) => ({
      atMs: exchange.startedMs,
      row: entry(exchange, byExchange.get(exchange.id) ?? [], { endMs, budget, open }),
    }));
    const events = callRows(shown, {
      at: (ms) => formatSeconds(ms),
      text: (body) => bodyText(body, budget),
      bar: (fromMs, untilMs) => bar({ startedMs: fromMs, endedMs: untilMs }, endMs),
    });
    const inOrder = [...rows, ...events].sort((left, right) => left.atMs - right.atMs);
    return html`<ol class="timeline">
      ${inOrder.map(({ row }) => row)}
    </ol>`;
  };
  const evidence = chosen.filter(({ id }) => named.has(id));
  const others = chosen.filter(({ id }) => !named.has(id));
  // The evidence is rendered first, so that it gets its share of the budget.
  const evidenceRows = renderRows(evidence, true);
  const cutCount = length - chosen.length;
  return [
    ...(evidence.length === 0
      ? []
      : [
          {
            id: 'evidence',
            title: 'Evidence',
            body: html`<p class="soft">The exchanges that show the findings.</p>
              ${evidenceRows}`,
          },
        ]),
    {
      id: 'timeline',
      title: evidence.length === 0 ? 'Exchanges' : 'Other exchanges',
      body: html`<p class="soft">
          The run had ${formatCount(length, 'exchange')} in ${formatSeconds(endMs)}. They are
          ordered by send time.
        </p>
        ${
          cutCount > 0 &&
          renderRemark(
            'warn',
            `Cut: ${formatCount(cutCount, 'more exchange')}. --record writes all of them.`,
          )
        }
        <details>
          <summary>${formatCount(others.length, 'exchange')} without a finding</summary>
          ${renderRows(others, false)}
        </details>`,
    },
  ];
}

interface Drawing {
  endMs: number;
  /** Characters left for all remaining bodies. */
  budget: { left: number };
  open: boolean;
}

function entry(exchange: Exchange, blame: readonly RequirementVerdict[], drawing: Drawing): Html {
  const { id, step, probe, request, response, failure } = exchange;
  const { method, path } = request;
  const kind = failure ? 'lost' : (response?.status ?? 0) >= 400 ? 'refused' : 'accepted';
  return html`<li id="e${id}">
    <details ${drawing.open ? 'open' : ''}>
      <summary>
        <b>#${id}</b>
        <span
          >${method} ${cutText(path, NAME_LENGTH_MAX)} &rarr;
          <b class="${kind}">${describeOutcome(exchange)}</b></span
        >
        <span class="soft"
          >${cutText(probe, NAME_LENGTH_MAX)} "${cutText(step, NAME_LENGTH_MAX)}", at
          ${formatSeconds(exchange.startedMs)}, ${Math.round(durationMs(exchange))}
          ms${exchange.repeats === undefined ? '' : `; #${exchange.repeats} sent again`}</span
        >
        ${blame.map((row) => renderVerdict(row.verdict, row.id))} ${bar(exchange, drawing.endMs)}
      </summary>
      ${links(exchange, blame)}
      <h3>Sent</h3>
      ${message(request.headers, request.body, drawing.budget)}
      <h3>Received</h3>
      ${failure && html`<p>${failure.kind}: ${cutText(failure.message, HEADER_LENGTH_MAX)}</p>`}
      ${response && message(response.headers, response.body, drawing.budget)}
    </details>
  </li>`;
}

/** Renders links to the exchange, to what it repeats, and to the findings that it shows. */
function links({ id, repeats }: Exchange, blame: readonly RequirementVerdict[]): Html {
  const targets = [
    `e${id}`,
    ...(repeats === undefined ? [] : [`e${repeats}`]),
    ...blame.map((row) => row.id),
  ];
  return html`<p class="links">
    ${targets.map((target) => html`<a href="#${target}">#${target.replace(/^e/, '')}</a>`)}
  </p>`;
}

/** Renders the period of an exchange along the time of the run. */
function bar({ startedMs, endedMs }: Pick<Exchange, 'startedMs' | 'endedMs'>, endMs: number): Html {
  const at = Math.max(0, Math.round((startedMs / endMs) * 1000));
  const width = Math.max(3, Math.round(((endedMs - startedMs) / endMs) * 1000));
  return html`<svg viewBox="0 0 1000 6" preserveAspectRatio="none" aria-hidden="true">
    <rect x="${at}" y="0" width="${width}" height="6"></rect>
  </svg>`;
}

function message(
  headers: Record<string, string>,
  body: string | undefined,
  budget: Drawing['budget'],
): Html {
  const all = Object.entries(headers);
  const lines = all
    .slice(0, HEADERS_MAX)
    .map(([name, value]) => `${cutText(name, 100)}: ${cutText(value, HEADER_LENGTH_MAX)}`);
  if (all.length > HEADERS_MAX) lines.push(`[cut: ${all.length - HEADERS_MAX} more headers]`);
  return html`<pre>${lines.join('\n')}</pre>
    ${body === undefined || body === '' ? html`<p class="soft">No body.</p>` : html`<pre>${bodyText(body, budget)}</pre>`}`;
}

function bodyText(body: string, budget: Drawing['budget']): string {
  const shown = cutText(body, Math.min(BODY_LENGTH_MAX, budget.left));
  budget.left = Math.max(0, budget.left - Math.min(body.length, BODY_LENGTH_MAX));
  return shown;
}
