import type { Transcript } from '../../engine/transcript/transcript.ts';
import { isInjected, isUnavailable } from './attempts.ts';
import { listSome } from './findings.ts';
import { routes } from './observed.ts';

/** Returns what the run did not show: routes, retries, and requests that are not recorded. */
export function clientNotices(
  { run, exchanges }: Transcript,
  { isBlocked }: { isBlocked: boolean },
): readonly string[] {
  if (isBlocked) return [];
  const unused = routes.filter(([endpoint]) =>
    exchanges.every((exchange) => exchange.endpoint !== endpoint),
  );
  const names = unused.map(([, route]) => route);
  const isRefused = exchanges.some(
    (exchange) =>
      isInjected(exchange) || isUnavailable(exchange) || exchange.response?.status === 429,
  );
  const { length: unrecorded } = exchanges.filter(({ request }) => request.bodyBytes !== undefined);
  const { droppedRequests = 0 } = run;
  return [
    ...(names.length === 0 ? [] : [`Not exercised: ${listSome(names, names.length)}.`]),
    ...(isRefused
      ? []
      : [
          'Retries were not observed. Add --inject-faults to answer some requests with 429 and 503.',
        ]),
    ...(unrecorded === 0
      ? []
      : [`Too large to record, so not judged: the bodies of ${unrecorded} requests.`]),
    ...(droppedRequests === 0
      ? []
      : [`The recording was full, so ${droppedRequests} later requests are not judged.`]),
  ];
}
