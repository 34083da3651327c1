import type { Suite } from '../engine/area.ts';
import type { BlockingCause } from '../engine/preflight/blocking-cause.ts';
import { shorten, wrapBreakingWords, type TextLayout } from '../../src/report-kit/terminal.ts';
import { isVoice } from '../engine/transcript/call-messages.ts';
import { type Exchange, describeOutcome, durationMs } from '../engine/transcript/reading.ts';

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

/** Lays out the diagnosis for people: each request of the preflight, then the cause or the next step. */
export function diagnosisText(
  { peer, target, blockedBy, remark, exchanges }: Diagnosis,
  checkCommand: string,
  { style, width }: TextLayout,
): string {
  const outcomeWidth =
    2 + Math.max(10, ...exchanges.map((exchange) => describeOutcome(exchange).length));
  const requestWidth = width - outcomeWidth - TIME_WIDTH;
  const lines = exchanges.map((exchange) => {
    const request = shorten(describeRequest(exchange, target), requestWidth - 2).padEnd(
      Math.min(42, requestWidth),
    );
    const isExpected =
      exchange.response && (exchange.response.status < 400 || exchange.intent === 'open');
    const color = isExpected ? 'green' : 'yellow';
    return `  ${request}${style(color, describeOutcome(exchange).padEnd(outcomeWidth))}${Math.round(durationMs(exchange))} ms`;
  });
  const ending = blockedBy
    ? [
        ...wrapBreakingWords(blockedBy.message, width).map((line) => style('red', line)),
        ...wrapBreakingWords(blockedBy.cure, width),
      ]
    : [
        ...(remark === undefined
          ? []
          : wrapBreakingWords(remark, width).map((line) => style('yellow', line))),
        style('green', `The ${peer} is reachable. To check it, run:`),
        `  ${checkCommand}`,
      ];
  return [style('bold', `Connection to the ${peer}`), ...lines, '', ...ending, ''].join('\n');
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
  requests: { request: string; outcome: string; tookMs: number }[];
}

/** Returns the diagnosis for programs. */
export function diagnosisJson({
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
    requests: exchanges.map((exchange) => ({
      request: describeRequest(exchange, target),
      outcome: describeOutcome(exchange),
      tookMs: Math.round(durationMs(exchange)),
    })),
  };
}
