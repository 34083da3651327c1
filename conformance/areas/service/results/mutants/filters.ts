import { instantMs, isoTime, systemClock } from '../../../../../src/platform/clock.ts';
import { editBody, isAccepted, withQuery } from '../../../../engine/mutants/combinators.ts';
import type { Mutant, Transform, TransformFactory } from '../../../../engine/mutants/mutant.ts';
import {
  objectsAt,
  queryParameter,
  sessionsIn,
  type ResultsEndpoint,
  type ResultsObject,
} from '../../results-api.ts';
import type { NameFilter, Wildcard } from '../../steps.ts';
import { hasQuery, objectAt, onPages, onSessions, rewriteQuery, setKey } from '../../transforms.ts';
import { sharedMutantsOf } from './shared.ts';

type TimeFilter = 'started_after' | 'started_before';

/** The probes page with smaller limits; those reads stay as they are. */
const isFilterRead = hasQuery('limit', '500');
const isFailedOnly = hasQuery('failed_only', 'true');

const ignoreParameter = (endpoint: ResultsEndpoint, name: string): TransformFactory =>
  rewriteQuery(endpoint, (query) => query.delete(name), isFilterRead);

/** Finds nothing if the value contains upper-case letters. */
const matchCase = (endpoint: ResultsEndpoint, filter: NameFilter): TransformFactory =>
  onPages(
    endpoint,
    (page) => Object.assign(page, { items: [], total: 0 }),
    ({ path }) => {
      const value = queryParameter(path, filter);
      const hasUpperCase = value !== undefined && value !== value.toLowerCase();
      return hasUpperCase && !path.includes('.example');
    },
  );

/** Moves the time of a filter by some milliseconds. */
const shiftTime = (endpoint: ResultsEndpoint, filter: TimeFilter, ms: number): TransformFactory =>
  rewriteQuery(
    endpoint,
    (query) => {
      const boundMs = instantMs(query.get(filter) ?? '');
      if (boundMs !== undefined) query.set(filter, isoTime(boundMs + ms));
    },
    isFilterRead,
  );

/** Moves the time of a filter to the start of its day, unless it is in the future. */
const truncateToDay = (endpoint: ResultsEndpoint, filter: TimeFilter): TransformFactory =>
  rewriteQuery(endpoint, (query) => {
    const boundMs = instantMs(query.get(filter) ?? '');
    if (boundMs === undefined || boundMs > systemClock.nowMs()) return;
    query.set(filter, `${isoTime(boundMs).slice(0, 10)}T00:00:00Z`);
  });

/** Applies another filter to the sessions that the service lists without the filter. */
const replaceFilter =
  (
    endpoint: ResultsEndpoint,
    filter: NameFilter | TimeFilter,
    isKept: (session: ResultsObject, value: string) => boolean,
  ): TransformFactory =>
  (): Transform =>
  async (request, forward) => {
    const value = queryParameter(request.path, filter);
    if (request.endpoint !== endpoint || value === undefined || !isFilterRead(request)) {
      return forward(request);
    }
    const response = await forward(withQuery(request, (query) => query.delete(filter)));
    if (!isAccepted(response)) return response;
    return editBody(response, request, (page) => {
      const items = sessionsIn(page).filter((session) => isKept(session, value));
      Object.assign(page, { items, total: items.length });
    });
  };

/** Applies a time filter to the end instead of the start. */
const filterByEnd = (endpoint: ResultsEndpoint, filter: TimeFilter): TransformFactory =>
  replaceFilter(endpoint, filter, (session, bound) => {
    const endMs = instantMs(String(session['ended_at'])) ?? 0;
    const boundMs = instantMs(bound) ?? 0;
    return filter === 'started_after' ? endMs >= boundMs : endMs <= boundMs;
  });

type TextMatch = (text: string, value: string) => boolean;

const namesOf: Readonly<Record<NameFilter, (session: ResultsObject) => unknown[]>> = {
  run: ({ run }) => [run],
  agent: ({ agent }) => [agent],
  eval: (session) => objectsAt(session, 'eval_outcomes').map(({ eval_name: name }) => name),
};

const replaceMatch = (
  endpoint: ResultsEndpoint,
  filter: NameFilter,
  isMatch: TextMatch,
): TransformFactory =>
  replaceFilter(endpoint, filter, (session, value) =>
    namesOf[filter](session).some((name) =>
      isMatch(String(name).toLowerCase(), value.toLowerCase()),
    ),
  );

/** Treats one character of the value as a wildcard. */
const matchWildcard =
  (wildcard: Wildcard, pattern: string): TextMatch =>
  (text, value) => {
    const parts = value.split(wildcard).map((part) => part.replaceAll(/[^a-z0-9 ]/g, '\\$&'));
    return new RegExp(parts.join(pattern)).test(text);
  };

const matchEnd: TextMatch = (text, value) => text.endsWith(value);
const matchStart: TextMatch = (text, value) => text.startsWith(value);

function nameFilterMutants(endpoint: ResultsEndpoint, filter: NameFilter): Mutant[] {
  const create = sharedMutantsOf(endpoint);
  const mutant = (suffix: string, description: string, transform: TransformFactory): Mutant =>
    create(
      `${filter}-${suffix}`,
      description,
      filter === 'eval' ? 'evalFilter' : 'nameFilter',
      transform,
    );
  const matching = (suffix: string, description: string, isMatch: TextMatch): Mutant =>
    mutant(suffix, description, replaceMatch(endpoint, filter, isMatch));
  return [
    mutant('ignored', `Ignores ${filter}.`, ignoreParameter(endpoint, filter)),
    mutant('case', `Matches ${filter} case-sensitively.`, matchCase(endpoint, filter)),
    matching('by-end', `Matches ${filter} only at the end.`, matchEnd),
    matching('percent', `Treats % in ${filter} as a wildcard.`, matchWildcard('%', '.*')),
    // One endpoint is enough for the rest, because both endpoints share the rule.
    ...(endpoint === 'simulations'
      ? []
      : [
          matching('by-start', `Matches ${filter} only at the start.`, matchStart),
          filter === 'eval'
            ? matching('underscore', 'Treats _ in eval as a wildcard.', matchWildcard('_', '.'))
            : matching(
                'pattern',
                `Treats ${filter} as a regular expression.`,
                matchWildcard('.', '.'),
              ),
        ]),
  ];
}

/** Returns a mutant that also searches another field than the name. */
function foreignFieldMutant(endpoint: ResultsEndpoint): Mutant {
  const [filter, field] =
    endpoint === 'production'
      ? (['run', 'source_session_id'] as const)
      : (['agent', 'scenario'] as const);
  return sharedMutantsOf(endpoint)(
    `${filter}-elsewhere`,
    `Also searches ${field} for ${filter}.`,
    'nameFilter',
    replaceFilter(endpoint, filter, (session, value) =>
      [session[filter], session[field]].some((text) =>
        String(text).toLowerCase().includes(value.toLowerCase()),
      ),
    ),
  );
}

function timeFilterMutants(endpoint: ResultsEndpoint): Mutant[] {
  const mutant = sharedMutantsOf(endpoint);
  return [
    mutant(
      'after-exclusive',
      'Excludes sessions that start exactly at started_after.',
      'startedAfter',
      shiftTime(endpoint, 'started_after', 1),
    ),
    mutant(
      'after-ignored',
      'Ignores started_after.',
      'startedAfter',
      ignoreParameter(endpoint, 'started_after'),
    ),
    mutant(
      'after-by-end',
      'Compares started_after with the end of sessions.',
      'startedAfter',
      filterByEnd(endpoint, 'started_after'),
    ),
    mutant(
      'after-by-day',
      'Truncates started_after to the day.',
      'startedAfter',
      truncateToDay(endpoint, 'started_after'),
    ),
    mutant(
      'before-exclusive',
      'Excludes sessions that start exactly at started_before.',
      'startedBefore',
      shiftTime(endpoint, 'started_before', -1),
    ),
    mutant(
      'before-ignored',
      'Ignores started_before.',
      'startedBefore',
      ignoreParameter(endpoint, 'started_before'),
    ),
    mutant(
      'before-by-end',
      'Compares started_before with the end of sessions.',
      'startedBefore',
      filterByEnd(endpoint, 'started_before'),
    ),
    mutant(
      'before-by-day',
      'Truncates started_before to the day.',
      'startedBefore',
      truncateToDay(endpoint, 'started_before'),
    ),
  ];
}

function failedOnlyMutants(endpoint: ResultsEndpoint): Mutant[] {
  const mutant = sharedMutantsOf(endpoint);
  return [
    mutant(
      'failed-ignored',
      'Ignores failed_only.',
      ['failedFilter', 'failedOutcomes', 'failedTotal'],
      ignoreParameter(endpoint, 'failed_only'),
    ),
    mutant(
      'failed-one-less',
      'Omits one failing session.',
      ['failedFilter', 'failedTotal'],
      onPages(
        endpoint,
        (page) => {
          page['items'] = sessionsIn(page).slice(1);
          page['total'] = Number(page['total']) - 1;
        },
        isFailedOnly,
      ),
    ),
    mutant(
      'failed-summary',
      'Summarizes only failing outcomes with failed_only.',
      'failedSummary',
      onSessions(
        endpoint,
        (session) => {
          const summary = objectAt(session, 'outcome_summary');
          Object.assign(summary, {
            total_evaluations: summary['failed_count'],
            passed_count: 0,
            pass_rate: 0,
          });
        },
        isFailedOnly,
      ),
    ),
    mutant(
      'failed-total',
      'Counts passed sessions with failed_only.',
      'failedTotal',
      onPages(
        endpoint,
        (page) => {
          page['total'] = Number(page['total']) + 5;
        },
        isFailedOnly,
      ),
    ),
  ];
}

function failedOutcomeMutants(endpoint: ResultsEndpoint): Mutant[] {
  const mutant = sharedMutantsOf(endpoint);
  return [
    mutant(
      'failed-lists-all',
      'Lists passed outcomes with failed_only.',
      'failedOutcomes',
      onSessions(
        endpoint,
        (session) => {
          const outcomes = objectsAt(session, 'eval_outcomes');
          session['eval_outcomes'] = [...outcomes, { ...outcomes[0], outcome: 'pass' }];
        },
        isFailedOnly,
      ),
    ),
    mutant(
      'failed-lists-passed',
      'Lists passed instead of failing outcomes with failed_only.',
      'failedOutcomes',
      onSessions(
        endpoint,
        (session) => objectsAt(session, 'eval_outcomes').forEach(setKey('outcome', 'pass')),
        isFailedOnly,
      ),
    ),
    mutant(
      'failed-one-alone',
      'Lists only one failing outcome per session.',
      'failedOutcomes',
      onSessions(
        endpoint,
        (session) => {
          session['eval_outcomes'] = objectsAt(session, 'eval_outcomes').slice(0, 1);
        },
        isFailedOnly,
      ),
    ),
  ];
}

/** Returns mutants of the filters. */
export const filterMutants = (endpoint: ResultsEndpoint): Mutant[] => [
  ...nameFilterMutants(endpoint, endpoint === 'production' ? 'run' : 'agent'),
  ...nameFilterMutants(endpoint, 'eval'),
  foreignFieldMutant(endpoint),
  ...timeFilterMutants(endpoint),
  ...failedOnlyMutants(endpoint),
  ...failedOutcomeMutants(endpoint),
];
