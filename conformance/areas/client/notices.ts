import { formatList } from '../../../src/report-kit/format.ts';
import { serviceEndpoints } from '../../engine/checks/route-names.ts';
import { isRateLimited, type Transcript } from '../../engine/transcript/reading.ts';
import { isInjected, isUnavailable } from './attempts.ts';

/** What a client did not do that never used a route. */
const OMISSIONS: Readonly<Record<(typeof serviceEndpoints)[number], string>> = {
  traces: 'never sent traces',
  end: 'never closed a conversation',
  simulations: 'never read simulation results',
  production: 'never read production results',
};

/** Returns notices about unused routes, missing retries, and requests that were not recorded. */
export function listNotices(
  { run, exchanges }: Transcript,
  { isBlocked }: { isBlocked: boolean },
): readonly string[] {
  if (isBlocked) return [];
  const unused = serviceEndpoints.filter((endpoint) =>
    exchanges.every((exchange) => exchange.endpoint !== endpoint),
  );
  const omissions = unused.map((endpoint) => OMISSIONS[endpoint]);
  const isRefused = exchanges.some(
    (exchange) => isInjected(exchange) || isUnavailable(exchange) || isRateLimited(exchange),
  );
  const { length: unrecorded } = exchanges.filter(({ request }) => request.bodyBytes !== undefined);
  const { droppedRequests = 0 } = run;
  return [
    ...(omissions.length === 0 ? [] : [`The client ${formatList(omissions)}.`]),
    ...(isRefused
      ? []
      : [
          'Retries were not observed. Add --inject-faults, so that some requests get a 429 or a 503.',
        ]),
    ...(unrecorded === 0
      ? []
      : [
          `Request bodies that were too large, or were refused before they arrived, and are not judged: ${unrecorded}.`,
        ]),
    ...(droppedRequests === 0
      ? []
      : [`Requests after the recording was full, which are not judged: ${droppedRequests}.`]),
  ];
}
