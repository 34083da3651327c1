import type { BlockingCause } from '../engine/preflight/blocking-cause.ts';
import { fold } from './layout.ts';
import type { ListingOptions } from './listing.ts';
import { type Exchange, describeOutcome, durationMs } from '../engine/transcript/reading.ts';

/** The margin, and the longest time in milliseconds with its unit. */
const TIME_WIDTH = 12;

/** What the preflight saw. */
export interface Diagnosis {
  /** What was looked for. */
  peer: 'sandbox' | 'service';
  blockedBy: BlockingCause | undefined;
  /** What is wrong with the way to its voice, where that was not asked for. */
  remark?: string | undefined;
  exchanges: readonly Exchange[];
}

/** The diagnosis for people: each request of the preflight, then what follows, or how to go on. */
export function diagnosisText(
  { peer, blockedBy, remark, exchanges }: Diagnosis,
  checkCommand: string,
  { style, width }: ListingOptions,
): string {
  const outcomeWidth = 2 + Math.max(10, ...exchanges.map((one) => describeOutcome(one).length));
  const requestWidth = width - outcomeWidth - TIME_WIDTH;
  const lines = exchanges.map((one) => {
    const path = `${one.request.method} ${one.request.path}`;
    const request = path.slice(0, requestWidth - 2).padEnd(Math.min(42, requestWidth));
    const isRight = one.response && (one.response.status < 400 || one.intent === 'open');
    const color = isRight ? 'green' : 'yellow';
    return `  ${request}${style(color, describeOutcome(one).padEnd(outcomeWidth))}${Math.round(durationMs(one))} ms`;
  });
  const ending = blockedBy
    ? [
        ...fold(blockedBy.message, width).map((line) => style('red', line)),
        ...fold(blockedBy.cure, width),
      ]
    : [
        ...(remark === undefined ? [] : fold(remark, width).map((line) => style('yellow', line))),
        style('green', `A ${peer} can be reached here. What it answered is for the judge:`),
        `  ${checkCommand}`,
      ];
  return [style('bold', `The way to the ${peer}`), ...lines, '', ...ending, ''].join('\n');
}

/** The diagnosis for programs. */
export function diagnosisJson({ blockedBy, remark, exchanges }: Diagnosis, target: string): object {
  return {
    target,
    ok: blockedBy === undefined,
    ...(blockedBy
      ? { gate: { id: blockedBy.id, says: blockedBy.message, cure: blockedBy.cure } }
      : {}),
    ...(remark === undefined ? {} : { remark }),
    requests: exchanges.map((one) => ({
      request: `${one.request.method} ${one.request.path}`,
      outcome: describeOutcome(one),
      tookMs: Math.round(durationMs(one)),
    })),
  };
}
