import type { ObservedBehaviors } from '../../../src/contract/index.ts';
import { formatCount, formatList } from '../../../src/report-kit/format.ts';
import { routeNames, serviceEndpoints } from '../../engine/checks/route-names.ts';
import {
  describeOutcome,
  type Exchange,
  toPrintable,
  type Transcript,
} from '../../engine/transcript/reading.ts';
import { findNextAttempt, formatPause, isUnavailable, waitMsOf } from './attempts.ts';
import { isRead } from './queries.ts';
import { encodingOf, formatOf, isTraces } from './sent-traces.ts';

/** Returns the number of requests per route, and behavior that the specification leaves open. */
export function observeClient(transcript: Transcript): ObservedBehaviors {
  const { exchanges } = transcript;
  const traces = exchanges.filter(isTraces);
  const entries: [name: string, value: string][] = [
    ...serviceEndpoints.map((endpoint): [string, string] => [
      routeNames[endpoint],
      countRequests(exchanges.filter((exchange) => exchange.endpoint === endpoint)),
    ]),
    ['other paths', listDistinct(exchanges.filter(isElsewhere).map(describeElsewhere))],
    ['format of traces', listDistinct(traces.map(describeFormat))],
    ['user agent', listDistinct(exchanges.map(describeAgent))],
    ['pause after a 429', describePauses(transcript, ({ response }) => response?.status === 429)],
    ['pause after a 502, 503, or 504', describePauses(transcript, isUnavailable)],
    ['time between two reads of a list', describeReadIntervals(exchanges)],
  ];
  return Object.fromEntries(entries.filter(([, value]) => value !== ''));
}

const countRequests = ({ length }: readonly Exchange[]): string =>
  length === 0 ? '' : formatCount(length, 'request');

const isElsewhere = ({ endpoint }: Exchange): boolean => endpoint === 'elsewhere';

const describeElsewhere = (exchange: Exchange): string =>
  `${exchange.request.method} ${toPrintable(exchange.request.path.replace(/\?.*$/s, ''), 60)} ${describeOutcome(exchange)}`;

const describeFormat = (exchange: Exchange): string => {
  const encoding = encodingOf(exchange);
  const format = formatOf(exchange) ?? 'another type';
  return encoding === 'identity' ? format : `${format} with ${toPrintable(encoding, 20)}`;
};

const describeAgent = ({ request }: Exchange): string =>
  toPrintable(request.headers['user-agent'] ?? '', 60);

const LISTED_MAX = 4;

const listDistinct = (values: readonly string[]): string => {
  const distinct = [...new Set(values)].filter((value) => value !== '');
  return distinct.length === 0 ? '' : formatList(distinct, LISTED_MAX);
};

function describePauses(
  transcript: Transcript,
  isRefused: (exchange: Exchange) => boolean,
): string {
  const pauses = transcript.exchanges.filter(isRefused).flatMap((exchange) => {
    const next = findNextAttempt(exchange, transcript)?.exchange;
    if (!next) return [];
    const requestedMs = waitMsOf(exchange);
    const pause = formatPause(next.startedMs - exchange.endedMs);
    return [
      requestedMs === undefined ? pause : `${pause} (Retry-After ${formatPause(requestedMs)})`,
    ];
  });
  return listDistinct(pauses);
}

/** Describes how often a client reads a list. The specification sets no limit. */
function describeReadIntervals(exchanges: readonly Exchange[]): string {
  const byPath = Map.groupBy(exchanges.filter(isRead), ({ request }) => request.path);
  const intervals = [...byPath.values()].flatMap((reads) =>
    reads.slice(1).map((read, index) => read.startedMs - (reads[index]?.endedMs ?? 0)),
  );
  return intervals.length === 0 ? '' : `${formatPause(Math.min(...intervals))} or more`;
}
