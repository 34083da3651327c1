import type { CheckReport, RequirementVerdict } from '../../src/contract/index.ts';
import { html, type Html } from '../../src/report-kit/html.ts';
import {
  type Exchange,
  type Transcript,
  describeOutcome,
  durationMs,
} from '../engine/transcript/reading.ts';
import { callRows, type TimedRow } from './html-call-events.ts';
import { visible } from './layout.ts';

/** Exchanges that a page shows at most. */
const EXCHANGES_MAX = 1_000;
/** Characters of one body, and of all bodies together. */
const BODY_LENGTH_MAX = 4_000;
const BODIES_LENGTH_MAX = 4_000_000;
const HEADERS_MAX = 40;
const HEADER_LENGTH_MAX = 300;
const NAME_LENGTH_MAX = 200;

/** A text of so many characters at most, with a note on what is left out. */
export function cut(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text;
  return `${text.slice(0, lengthMax)} [cut: ${text.length - lengthMax} more characters]`;
}

const RED = ['error', 'fail', 'warn'];

/** The requirements that are not met, by the exchanges that show it. */
function blamed({ requirements }: CheckReport): Map<number, RequirementVerdict[]> {
  const byExchange = new Map<number, RequirementVerdict[]>();
  for (const one of requirements) {
    if (!RED.includes(one.verdict)) continue;
    const [...items] = one.evidence.slice(0, one.findings ?? 1);
    for (const { exchange } of items) {
      byExchange.set(exchange, [...(byExchange.get(exchange) ?? []), one]);
    }
  }
  return byExchange;
}

/** What the page has room for: what is evidence of a finding first; in the order of sending. */
export function chosenExchanges(report: CheckReport, { exchanges }: Transcript): Exchange[] {
  const named = new Set([...blamed(report).keys(), ...gateIds(report)]);
  return [...exchanges]
    .sort((one, other) => Number(named.has(other.id)) - Number(named.has(one.id)))
    .slice(0, EXCHANGES_MAX)
    .sort((one, other) => one.startedMs - other.startedMs || one.id - other.id);
}

const gateIds = ({ blockedBy }: CheckReport): number[] =>
  (blockedBy?.evidence ?? []).map(({ exchange }) => exchange);

/** Every exchange of the run along one time, with an anchor each. */
export function timeline(report: CheckReport, transcript: Transcript, chosen: Exchange[]): Html {
  const { length } = transcript.exchanges;
  const left = length - chosen.length;
  const endMs = Math.max(1, ...chosen.map(({ endedMs }) => endedMs));
  const byExchange = blamed(report);
  const open = new Set([...byExchange.keys(), ...gateIds(report)]);
  const budget = { left: BODIES_LENGTH_MAX };
  const shown = chosen.map(visible);
  const rows: TimedRow[] = shown.map((one) => ({
    atMs: one.startedMs,
    row: entry(one, byExchange.get(one.id) ?? [], { endMs, budget, open: open.has(one.id) }),
  }));
  const events = callRows(shown, {
    at: seconds,
    text: (body) => bodyText(body, budget),
    bar: (fromMs, untilMs) => bar({ startedMs: fromMs, endedMs: untilMs }, endMs),
  });
  const heading =
    events.length > 0 ? 'exchanges, and what was said and heard in calls,' : 'exchanges';
  return html`<section aria-labelledby="timeline">
    <h2 id="timeline">Timeline</h2>
    <p class="soft">${length} ${heading} in ${seconds(endMs)}, by the time of sending.</p>
    ${left > 0 ? html`<p class="waiver">${left} more exchanges are cut; --record has all.</p>` : undefined}
    <ol class="timeline">
      ${[...rows, ...events].sort((one, other) => one.atMs - other.atMs).map(({ row }) => row)}
    </ol>
  </section>`;
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;

interface Drawing {
  endMs: number;
  /** Characters that all bodies to come may take. */
  budget: { left: number };
  open: boolean;
}

function entry(one: Exchange, blame: readonly RequirementVerdict[], drawing: Drawing): Html {
  const { id, step, probe, request, response, failure } = one;
  const { method, path } = request;
  const kind = failure ? 'lost' : (response?.status ?? 0) >= 400 ? 'refused' : 'taken';
  return html`<li id="e${id}">
    <details ${drawing.open ? 'open' : ''}>
      <summary>
        <a class="id" href="#e${id}">#${id}</a>
        <span class="request"
          >${method} ${cut(path, NAME_LENGTH_MAX)} &rarr;
          <b class="${kind}">${describeOutcome(one)}</b></span
        >
        <span class="soft"
          >${cut(probe, NAME_LENGTH_MAX)} "${cut(step, NAME_LENGTH_MAX)}", at
          ${seconds(one.startedMs)}, ${Math.round(durationMs(one))} ms</span
        >
        ${blame.map((row) => html`<a class="mark ${row.verdict}" href="#${row.id}">${row.id}</a>`)}
        ${bar(one, drawing.endMs)}
      </summary>
      <h3>Sent</h3>
      ${message(request.headers, request.body, drawing.budget)}
      <h3>Received</h3>
      ${failure ? html`<p>${failure.kind}: ${cut(failure.message, HEADER_LENGTH_MAX)}</p>` : undefined}
      ${response ? message(response.headers, response.body, drawing.budget) : undefined}
    </details>
  </li>`;
}

/** When the exchange began and ended, drawn along the time of the whole run. */
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
    .map(([name, value]) => `${cut(name, 100)}: ${cut(value, HEADER_LENGTH_MAX)}`);
  if (all.length > HEADERS_MAX) lines.push(`[cut: ${all.length - HEADERS_MAX} more headers]`);
  return html`<pre class="headers">${lines.join('\n')}</pre>
    ${body === undefined || body === '' ? html`<p class="soft">No body.</p>` : html`<pre>${bodyText(body, budget)}</pre>`}`;
}

function bodyText(body: string, budget: Drawing['budget']): string {
  const shown = cut(body, Math.min(BODY_LENGTH_MAX, budget.left));
  budget.left = Math.max(0, budget.left - Math.min(body.length, BODY_LENGTH_MAX));
  return shown;
}
