import type { TraceSpan } from '../../../src/contract/index.ts';
import { formatList } from '../../../src/report-kit/format.ts';
import { type Check, checkEach, type Finding, unjudgedAs } from '../../engine/checks/check.ts';
import type { Exchange, Transcript } from '../../engine/transcript/reading.ts';
import { nameSpan, spansOf } from './sent-traces.ts';

/** What is wrong with a request. It never contains a key or text of a conversation. */
export interface Fault {
  /** The request to report (default: the judged one). */
  at?: Exchange;
  expected: string;
  received: string;
  hint?: string | undefined;
}

/** Returns the finding about a request. */
export function toFinding({ id }: Exchange, { expected, received, hint }: Fault): Finding {
  return { exchange: id, pointer: '', expected, received, ...(hint !== undefined && { hint }) };
}

/** Returns why nothing was judged: the client did not send what a requirement is about. */
export const notObserved = (reason: string): Check['unjudged'] =>
  unjudgedAs('not_observed', reason);

export const NO_TRACES = notObserved('The client sent no traces.');

/** Creates a check that judges each of the selected requests on its own. */
export function checkRequests(
  isJudged: (exchange: Exchange, transcript: Transcript) => boolean,
  unjudged: Check['unjudged'],
  findFaults: (exchange: Exchange, transcript: Transcript) => Fault | readonly Fault[] | undefined,
): Check {
  return checkEach(
    isJudged,
    (exchange, transcript) =>
      [findFaults(exchange, transcript) ?? []]
        .flat()
        .map((fault) => toFinding(fault.at ?? exchange, fault)),
    unjudged,
  );
}

/** Creates a check that judges the spans of each request, and reports each request once. */
export function checkSpans(
  selectSpans: (exchange: Exchange) => readonly TraceSpan[],
  unjudged: Check['unjudged'],
  {
    findFault,
    ...fault
  }: Omit<Fault, 'at' | 'received'> & {
    findFault: (span: TraceSpan) => string | undefined;
  },
): Check {
  return checkRequests(
    (exchange) => selectSpans(exchange).length > 0,
    unjudged,
    (exchange) => {
      const faults = selectSpans(exchange).flatMap((span) => {
        const found = findFault(span);
        return found === undefined ? [] : [`${nameSpan(span)}: ${found}`];
      });
      return faults.length === 0 ? undefined : { ...fault, received: listSome(faults) };
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
