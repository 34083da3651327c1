import { formatList } from '../../../src/report-kit/format.ts';
import { routeNames, serviceEndpoints } from '../../engine/checks/route-names.ts';
import type { Transcript } from '../../engine/transcript/transcript.ts';
import { isInjected, isUnavailable } from './attempts.ts';

/** Returns notices about unused routes, missing retries, and requests that were not recorded. */
export function listNotices(
  { run, exchanges }: Transcript,
  { isBlocked }: { isBlocked: boolean },
): readonly string[] {
  if (isBlocked) return [];
  const unused = serviceEndpoints.filter((endpoint) =>
    exchanges.every((exchange) => exchange.endpoint !== endpoint),
  );
  const names = unused.map((endpoint) => routeNames[endpoint]);
  const isRefused = exchanges.some(
    (exchange) =>
      isInjected(exchange) || isUnavailable(exchange) || exchange.response?.status === 429,
  );
  const { length: unrecorded } = exchanges.filter(({ request }) => request.bodyBytes !== undefined);
  const { droppedRequests = 0 } = run;
  return [
    ...(names.length === 0 ? [] : [`Not exercised: ${formatList(names)}.`]),
    ...(isRefused
      ? []
      : [
          'Retries were not observed. Add --inject-faults, so that some requests get a 429 or a 503.',
        ]),
    ...(unrecorded === 0
      ? []
      : [`Request bodies that were too large to record, and are not judged: ${unrecorded}.`]),
    ...(droppedRequests === 0
      ? []
      : [`Requests after the recording was full, which are not judged: ${droppedRequests}.`]),
  ];
}
