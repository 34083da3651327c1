import type { TraceSpan } from '../../../src/contract/index.ts';
import { formatList } from '../../../src/report-kit/format.ts';
import { type Check, checkEach, type Finding, unjudgedAs } from '../../engine/checks/check.ts';
import type { Exchange, Transcript } from '../../engine/transcript/reading.ts';
import { nameSpan, spansOf } from './sent-traces.ts';

/** The problem with a request. It never contains a key or text of a conversation. */
export interface Fault {
  /** The request to report (default: the judged one). */
  at?: Exchange;
  expected: string;
  received: string;
  hint?: string | undefined;
  /** Worth knowing, but no rule is broken. */
  isNote?: boolean;
}

/** The problem with a span. The other fields replace those of its check. */
export interface SpanFault extends Partial<Pick<Fault, 'expected' | 'hint' | 'isNote'>> {
  received: string;
}

/** Returns the finding about a request. */
export function toFinding(
  { id }: Exchange,
  { expected, received, hint, isNote = false }: Fault,
): Finding {
  return {
    exchange: id,
    pointer: '',
    expected,
    received,
    ...(hint !== undefined && { hint }),
    ...(isNote && { isNote }),
  };
}

/** Returns why nothing was judged: the client did not send what a requirement is about. */
export const notObserved = (reason: string, remedy?: string): Check['unjudged'] =>
  unjudgedAs('not_observed', reason, remedy);

export const NO_TRACES = notObserved(
  'The client never sent traces.',
  'Let the command export a conversation.',
);

/** Creates a check that judges each of the selected requests on its own. */
export function checkRequests(
  isJudged: (exchange: Exchange, transcript: Transcript) => boolean,
  unjudged: Check['unjudged'],
  findFaults: (exchange: Exchange, transcript: Transcript) => Fault | readonly Fault[] | undefined,
): Check {
  const check = checkEach(
    isJudged,
    (exchange, transcript) =>
      [findFaults(exchange, transcript) ?? []]
        .flat()
        .map((fault) => toFinding(fault.at ?? exchange, fault)),
    unjudged,
  );
  return { ...check, judge: (...given) => omitNotes(check.judge(...given)) };
}

/** Omits notes if there are other findings, because reports show the first finding as the example. */
function omitNotes(findings: Finding[]): Finding[] {
  const others = findings.filter(({ isNote }) => isNote !== true);
  return others.length > 0 ? others : findings;
}

/** Creates a check that judges the spans of each request, and reports each cure once per request. */
export function checkSpans(
  selectSpans: (exchange: Exchange, transcript: Transcript) => readonly TraceSpan[],
  unjudged: Check['unjudged'],
  {
    findFault,
    ...shared
  }: Omit<Fault, 'at' | 'received'> & {
    findFault: (
      span: TraceSpan,
      exchange: Exchange,
      transcript: Transcript,
    ) => SpanFault | string | undefined;
  },
): Check {
  return checkRequests(
    (exchange, transcript) => selectSpans(exchange, transcript).length > 0,
    unjudged,
    (exchange, transcript) => {
      const faults = selectSpans(exchange, transcript).flatMap((span) => {
        const found = findFault(span, exchange, transcript);
        if (found === undefined) return [];
        const { received, ...own } = typeof found === 'string' ? { received: found } : found;
        return [{ ...shared, ...own, received: `${nameSpan(span)}: ${received}` }];
      });
      const byCure = Map.groupBy(faults, ({ expected, hint = '' }) => `${expected}\n${hint}`);
      return [...byCure.values()].flatMap(([first, ...others]) => {
        if (!first) return [];
        return [
          { ...first, received: listSome([first, ...others].map((fault) => fault.received)) },
        ];
      });
    },
  );
}

/** Creates a check of some attributes of every span. `findFault` describes a wrong value. */
export function checkAttributes(
  keys: readonly string[],
  expected: string,
  findFault: (value: unknown) => string | undefined,
  hint?: string,
): Check {
  return checkSpans(
    (exchange) =>
      spansOf(exchange).filter(({ attributes }) => keys.some((key) => key in attributes)),
    notObserved(`No span has ${keys.join(' or ')}.`),
    {
      expected,
      hint,
      findFault({ attributes }) {
        for (const key of keys) {
          const fault = key in attributes ? findFault(attributes[key]) : undefined;
          if (fault !== undefined) return `${key} is ${fault}`;
        }
        return undefined;
      },
    },
  );
}

/** Lists the first three of many items. */
export const listSome = (items: readonly string[]): string => formatList(items, 3);
