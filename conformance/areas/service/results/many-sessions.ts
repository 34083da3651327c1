/** The sessions of the owner who has more than the largest page holds, and the pages that list them. */
import { listAt } from '../../../../src/contract/index.ts';
import { isObject } from '../../../../src/platform/json.ts';
import type { Check } from '../../../engine/checks/check.ts';
import {
  describeOutcome,
  isAccepted,
  type Exchange,
  type Transcript,
} from '../../../engine/transcript/reading.ts';
import { requireControlApi, requireIntrusiveRun } from '../findings.ts';
import { isResultsEndpoint, type ResultsEndpoint, type ResultsObject } from '../results-api.ts';
import { isResultsPage, isStep, sessionsOf } from '../transcript.ts';
import { OVER_CAP } from './evidence.ts';

/** Why no page with many sessions was judged: the service lists none of those that the run seeded. */
export const noManySessions = (endpoint: ResultsEndpoint): Check['unjudged'] =>
  requireIntrusiveRun(
    requireControlApi(({ exchanges }) => {
      const part = endpoint === 'production' ? 'runs' : 'simulations';
      const seed = exchanges.find((exchange) => isStep(exchange, 'admin', 'many'));
      const place = seed ? ` (exchange ${seed.id}: ${describeOutcome(seed)})` : '';
      return {
        verdict: 'not_observed',
        reason: `The service lists no session of \`${part}\` in the seed document that the run sent${place}.`,
        remedy: `Store \`${part}\` of seed documents in \`POST /__admin/seed\`; docs/check.md shows the whole format.`,
      };
    }),
  );

/** Returns the keys of the sessions of the seed with many sessions. */
function readManyKeys(endpoint: ResultsEndpoint, { exchanges }: Transcript): string[] {
  const seed = exchanges.find(
    (exchange) => isStep(exchange, 'admin', 'many') && isAccepted(exchange),
  );
  const groups = listAt(seed?.sent, endpoint === 'production' ? '/runs' : '/simulations');
  return groups
    .flatMap((group) => listAt(group, '/sessions'))
    .map((session) => manyKeyOf(endpoint, isObject(session) ? session : {}));
}

/** Returns what identifies a session of that seed: its id or scenario, which is its start. */
function manyKeyOf(endpoint: ResultsEndpoint, session: ResultsObject): string {
  const key = session[endpoint === 'production' ? 'source_session_id' : 'scenario'];
  return typeof key === 'string' ? key : '';
}

/** Returns the keys of the seeded sessions on a page, each once, in the order of the page. */
export function listManyKeys(
  endpoint: ResultsEndpoint,
  page: Exchange,
  transcript: Transcript,
): string[] {
  const known = new Set(readManyKeys(endpoint, transcript));
  const listed = new Set(sessionsOf(page).map((session) => manyKeyOf(endpoint, session)));
  return [...listed].filter((key) => known.has(key));
}

/** Returns whether a page lists sessions of that owner. */
export const isManyPage = (endpoint: ResultsEndpoint, page: Exchange): boolean =>
  isResultsPage(endpoint)(page) &&
  isStep(page, endpoint, 'many', OVER_CAP) &&
  page.probe === 'service/many';

/**
 * Returns how many sessions the run has seeded for the owner of a page. Returns undefined for owners
 * with other sessions, and if the page lists none of them, because a service need not support every
 * kind of seed data.
 */
export function countManySessions(page: Exchange, transcript: Transcript): number | undefined {
  const { endpoint } = page;
  if (!isResultsEndpoint(endpoint) || !isManyPage(endpoint, page)) return undefined;
  const isListed = listManyKeys(endpoint, page, transcript).length > 0;
  return isListed ? readManyKeys(endpoint, transcript).length : undefined;
}
