/** What a filter selects: the check of a filtered page, and services that filter otherwise. */
import { formatValue } from '../../../../src/contract/index.ts';
import type { Check, Finding } from '../../../engine/checks/check.ts';
import { editBody, isSuccess, withQuery } from '../../../engine/mutants/combinators.ts';
import type { Transform, TransformFactory } from '../../../engine/mutants/mutant.ts';
import type { Exchange, Transcript } from '../../../engine/transcript/reading.ts';
import { wrongValue } from '../findings.ts';
import {
  queryParameter,
  sessionsIn,
  type NameFilter,
  type ResultsEndpoint,
  type ResultsObject,
  type TimeFilter,
} from '../results-api.ts';
import type { ResultsStep } from '../steps.ts';
import { isStep, sessionsOf } from '../transcript.ts';
import { hasQuery, rewriteQuery } from '../transforms.ts';
import { identify } from './evidence.ts';
import { compareWithWhole, type WholeList } from './whole-list.ts';

/** The reason of requirements of a filter. */
export const WRONG_FILTER = 'A report that uses the filter would count the wrong sessions.';

/** Decides whether a filtered page must list a session; `either` if the run cannot know. */
export type FilterRule = (
  session: ResultsObject,
  page: Exchange,
  transcript: Transcript,
) => boolean | 'either';

/** Requires the pages of some steps to list exactly the sessions that the rule selects. */
export function filtersSessions(
  endpoint: ResultsEndpoint,
  steps: readonly ResultsStep[],
  rule: FilterRule,
): Check {
  return compareWithWhole(
    endpoint,
    (page, whole) => whole.sessions.length > 0 && isStep(page, endpoint, ...steps),
    (page, whole, transcript) => findFilterFaults(page, whole, rule, transcript),
  );
}

function findFilterFaults(
  page: Exchange,
  whole: WholeList,
  rule: FilterRule,
  transcript: Transcript,
): Finding[] {
  const all = whole.sessions;
  const ruleResults = new Map(
    all.map((session) => [identify(session), rule(session, page, transcript)]),
  );
  const listed = new Set(sessionsOf(page).map(identify));
  const required = new Set(
    [...ruleResults].filter(([, result]) => result === true).map(([identity]) => identity),
  );
  const missing = [...required].filter((identity) => !listed.has(identity));
  const extra = [...listed].filter(
    (identity) => !(ruleResults.get(identity) ?? whole.changed.has(identity)),
  );
  if (missing.length + extra.length === 0) {
    const repeated = findRepeated(sessionsOf(page), all);
    if (repeated === undefined) return [];
    const received = `${nameSession(repeated)}, more than once`;
    return [wrongValue(page, '/items', `each of the ${listed.size} sessions once`, received)];
  }
  const expected = `${required.size} of the ${all.length} sessions`;
  const [identity = extra[0]] = missing;
  const session = [...all, ...sessionsOf(page)].find((one) => identify(one) === identity);
  const example = `${missing.length > 0 ? 'without' : 'including'} ${session ? nameSession(session) : ''}`;
  const finding = wrongValue(page, '/items', expected, `${listed.size}, ${example}`);
  return [lacksDeletedAlone(all, listed, required) ? { ...finding, hint: DELETED_HINT } : finding];
}

const DELETED_HINT =
  'List sessions of deleted simulations, too, and do not require that their simulation exists: the read lacks only sessions whose `url` is null.';

/** Returns whether a page lacks only sessions without a link, and lists others that it must list. */
function lacksDeletedAlone(
  all: readonly ResultsObject[],
  listed: ReadonlySet<string>,
  required: ReadonlySet<string>,
): boolean {
  const isDeleted = ({ url }: ResultsObject): boolean => url === null;
  const isListed = (session: ResultsObject): boolean => listed.has(identify(session));
  const expected = all.filter((session) => required.has(identify(session)));
  const missing = expected.filter((session) => !isListed(session));
  return (
    missing.length > 0 &&
    missing.every(isDeleted) &&
    expected.some((session) => isListed(session) && !isDeleted(session))
  );
}

/** Returns a session that is listed more often than without the filter. */
function findRepeated(
  sessions: readonly ResultsObject[],
  all: readonly ResultsObject[],
): ResultsObject | undefined {
  const unseen = all.map(identify);
  return sessions.find((session) => {
    const identity = identify(session);
    const index = unseen.indexOf(identity);
    if (index >= 0) unseen.splice(index, 1);
    return index < 0 && all.some((one) => identify(one) === identity);
  });
}

/** Names a session by its own fields, and says when it started. */
function nameSession({
  source_session_id: id,
  simulation,
  scenario,
  started_at: startedAt,
}: ResultsObject): string {
  const name =
    id === undefined
      ? `the session of ${formatValue(simulation)} with scenario ${formatValue(scenario)}`
      : formatValue(id);
  return `${name}, which started at ${formatValue(startedAt)}`;
}

/** The step of a read with the name of a run or an agent, and of an eval that does not exist. */
export const nameAndEvalStep = (filter: 'run' | 'agent'): ResultsStep => `${filter} and eval none`;

/** The probes page with smaller limits; those reads stay as they are. */
export const isFilterRead = hasQuery('limit', '500');

/** Ignores a parameter. */
export const ignoreParameter = (endpoint: ResultsEndpoint, name: string): TransformFactory =>
  rewriteQuery(endpoint, (query) => query.delete(name), isFilterRead);

/** Applies another filter to the sessions that the service lists without the filter. */
export function replaceFilter(
  endpoint: ResultsEndpoint,
  filter: NameFilter | TimeFilter,
  isKept: (session: ResultsObject, value: string) => boolean,
): TransformFactory {
  return (): Transform => async (request, forward) => {
    const value = queryParameter(request.path, filter);
    if (request.endpoint !== endpoint || value === undefined || !isFilterRead(request)) {
      return forward(request);
    }
    const response = await forward(withQuery(request, (query) => query.delete(filter)));
    if (!isSuccess(response)) return response;
    return editBody(response, request, (page) => {
      const items = sessionsIn(page).filter((session) => isKept(session, value));
      Object.assign(page, { items, total: items.length });
    });
  };
}
