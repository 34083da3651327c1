import type { Suite } from '../engine/area.ts';
import type { BlockingCause } from '../engine/preflight/blocking-cause.ts';
import { formatList } from '../../src/report-kit/format.ts';
import { toPrintable } from '../../src/report-kit/printable.ts';
import {
  hangingIndent,
  shorten,
  wrapBreakingWords,
  wrapList,
  type Style,
  type TextLayout,
} from '../../src/report-kit/terminal.ts';
import { typeCommandsIn } from '../../src/report-kit/program-name.ts';
import { isVoice, UNKNOWN_PATH } from '../engine/transcript/call-messages.ts';
import { type Exchange, describeOutcome, durationMs } from '../engine/transcript/reading.ts';
import { findEndpointStates, type EndpointState } from './endpoint-states.ts';

/** Width of the margin and the longest time with its unit. */
const TIME_WIDTH = 12;

/** The result of a preflight. */
export interface Diagnosis {
  /** What the preflight looked for. */
  peer: Suite['peer'];
  /** The base URL of the requests. */
  target: string;
  blockedBy: BlockingCause | undefined;
  /** A problem with the voice endpoint when voice was not selected. */
  remark?: string | undefined;
  exchanges: readonly Exchange[];
}

/** Returns the command that checks some areas (default: those of the diagnosis). */
type WriteCheckCommand = (areas?: readonly string[]) => string;

/**
 * Lays out the diagnosis for people: each request of the preflight, then the cause, or which endpoints
 * respond and the next step.
 */
export function diagnosisText(
  diagnosis: Diagnosis,
  writeCheckCommand: WriteCheckCommand,
  layout: TextLayout,
): string {
  const { peer, target, blockedBy, exchanges } = diagnosis;
  const { style, width, program } = layout;
  const outcomeWidth =
    2 + Math.max(10, ...exchanges.map((exchange) => describeOutcome(exchange).length));
  const requestWidth = width - outcomeWidth - TIME_WIDTH;
  const lines = exchanges.flatMap((exchange) => {
    const request = shorten(describeRequest(exchange, target), requestWidth - 2).padEnd(
      Math.min(42, requestWidth),
    );
    const isExpected =
      exchange.response && (exchange.response.status < 400 || exchange.intent === 'open');
    const color = isExpected ? 'green' : 'yellow';
    const purpose = describePurpose(exchange);
    return [
      `  ${request}${style(color, describeOutcome(exchange).padEnd(outcomeWidth))}${Math.round(durationMs(exchange))} ms`,
      ...(purpose === undefined ? [] : [style('dim', `    ${purpose}`)]),
    ];
  });
  const ending = blockedBy
    ? [
        ...wrapBreakingWords(blockedBy.message, width).map((line) => style('red', line)),
        ...wrapBreakingWords(typeCommandsIn(blockedBy.cure, program), width),
      ]
    : summarize(diagnosis, writeCheckCommand, layout);
  return [style('bold', `Connection to the ${peer}`), ...lines, '', ...ending, ''].join('\n');
}

/** Says which endpoints respond, how to try what was not tried, and what to do next. */
function summarize(
  { peer, remark, exchanges }: Diagnosis,
  writeCheckCommand: WriteCheckCommand,
  { style, width }: TextLayout,
): string[] {
  const states = peer === 'sandbox' ? findEndpointStates(exchanges) : [];
  const select = (wanted: EndpointState['state']): EndpointState[] =>
    states.filter(({ state }) => state === wanted);
  const rows = STATE_ROWS.flatMap(([state, label]) => {
    const items = select(state).map(describeState);
    return items.length === 0 ? [] : formatRow(label, wrapList(items, width - ROW_INDENT));
  });
  const untried = new Set(select('not_tried').map(({ area }) => area));
  const failing = select('fails').map(({ name }) => name);
  const verb = failing.length === 1 ? 'fails' : 'fail';
  const failure = failing.length === 0 ? '' : `, but ${formatList(failing)} ${verb}`;
  const wrapIn = (color: Style, text: string): string[] =>
    wrapBreakingWords(text, width).map((line) => style(color, line));
  return [
    ...rows,
    ...(untried.size === 0 ? [] : formatRow('To try', [writeCheckCommand([...untried])])),
    ...(rows.length === 0 ? [] : ['']),
    ...(remark === undefined ? [] : wrapIn('yellow', remark)),
    ...wrapIn(
      failing.length === 0 ? 'green' : 'yellow',
      `The ${peer} is reachable${failure}. To check it, run:`,
    ),
    `  ${writeCheckCommand()}`,
  ];
}

const STATE_ROWS = [
  ['responds', 'Responds'],
  ['fails', 'Fails'],
  ['absent', 'Absent'],
  ['not_tried', 'Not tried'],
] as const;

const ROW_INDENT = 13;

const formatRow = (label: string, lines: readonly string[]): string[] =>
  hangingIndent(`  ${label}`.padEnd(ROW_INDENT), lines);

function describeState({ area, name, state, outcome }: EndpointState): string {
  if (state === 'responds' || state === 'not_tried') return name;
  // The outcome of a health request quotes the response.
  if (state === 'fails') return `${name} (${toPrintable(outcome)})`;
  const hint = area === 'voice' ? '; --voice-url sets another address' : '';
  return `${name} (${outcome}; optional${hint})`;
}

/** Explains a request that is not a usual one to an endpoint of the peer; undefined for others. */
function describePurpose({ endpoint, intent, step }: Exchange): string | undefined {
  if (step === UNKNOWN_PATH) return 'a path that does not exist, to compare the response';
  if (endpoint === 'end') return 'a conversation that does not exist';
  return intent === 'valid' || step === 'plain' ? undefined : step;
}

/** Returns the method and the path that was sent. A voice address has its own path. */
function describeRequest(exchange: Exchange, target: string): string {
  const { method, path } = exchange.request;
  const base = isVoice(exchange) ? '' : new URL(target).pathname.replace(/\/+$/, '');
  return `${method} ${base}${path}`;
}

/** Whether a peer can be reached, with the requests of the diagnosis. */
export interface DiagnosisReport {
  target: string;
  ok: boolean;
  /** The one cause that prevents a check, and its fix. */
  blockedBy?: { id: string; message: string; cure: string };
  /** A problem with the voice endpoint when voice was not selected. */
  remark?: string;
  /** The endpoints of a sandbox that can be checked. */
  endpoints?: EndpointState[];
  requests: { request: string; outcome: string; tookMs: number }[];
}

/** Returns the diagnosis for programs. */
export function diagnosisJson({
  peer,
  target,
  blockedBy,
  remark,
  exchanges,
}: Diagnosis): DiagnosisReport {
  return {
    target,
    ok: blockedBy === undefined,
    ...(blockedBy
      ? { blockedBy: { id: blockedBy.id, message: blockedBy.message, cure: blockedBy.cure } }
      : {}),
    ...(remark === undefined ? {} : { remark }),
    ...(peer === 'sandbox' && !blockedBy && { endpoints: findEndpointStates(exchanges) }),
    requests: exchanges.map((exchange) => ({
      request: describeRequest(exchange, target),
      outcome: describeOutcome(exchange),
      tookMs: Math.round(durationMs(exchange)),
    })),
  };
}
