/** A service that loses turns, outcomes, or sessions gets the defect as the first cause. */
import t from 'tap';
import {
  hasReversedTurns,
  RETRY_TAG,
} from '../../conformance/areas/service/close/planned-conversations.ts';
import { onTurnsOfRequests } from '../../conformance/areas/service/results/turn-edits.ts';
import {
  objectsAt,
  queryParameter,
  sessionsIn,
  type ResultsEndpoint,
  type ResultsObject,
} from '../../conformance/areas/service/results-api.ts';
import { contains } from '../../conformance/areas/service/traces/trace-requests.ts';
import {
  isLiveRun,
  onPages,
  onSessions,
  removeKey,
} from '../../conformance/areas/service/transforms.ts';
import { chain, editBody, isSuccess, set } from '../../conformance/engine/mutants/combinators.ts';
import type { TransformFactory } from '../../conformance/engine/mutants/mutant.ts';
import { DAY_MS, instantMs } from '../../src/platform/clock.ts';
import { SERVICE_API_KEY_HEADER } from '../../src/contract/index.ts';
import {
  assertOneCause,
  reportWith,
  type ServiceDefect,
} from '../support/conformance/one-cause.ts';

/** Answers reads with a flag as those without it. */
const ignoreFlags =
  (endpoint: ResultsEndpoint): TransformFactory =>
  () => {
    const lists = new Map<string, ResultsObject[]>();
    return onPages(endpoint, (page, { path, headers }) => {
      const items = sessionsIn(page);
      const key = headers[SERVICE_API_KEY_HEADER] ?? '';
      const limit = queryParameter(path, 'limit');
      // A recording does not show the keys of owners. Only the main one sets a limit.
      const isFiltered = queryParameter(path, 'failed_only') === 'true' && limit !== undefined;
      if (limit === '500' && !/[?&](eval|agent|run|failed_only)=/.test(path)) {
        lists.set(key, structuredClone(items));
      }
      if (isFiltered) {
        const all = lists.get(key) ?? [];
        const skip = Number(queryParameter(path, 'skip') ?? 0);
        Object.assign(page, { items: all.slice(skip, skip + Number(limit)), total: all.length });
      }
      sessionsIn(page).forEach(removeKey('traces'));
    })();
  };

const keepFailures: Parameters<typeof onSessions>[1] = (session) => {
  session['eval_outcomes'] = objectsAt(session, 'eval_outcomes').filter(
    ({ outcome }) => outcome === 'fail',
  );
};

/** A session of the production results. */
const misplacedSession = {
  url: 'http://127.0.0.1/production-eval/run?sessionId=other',
  run: 'Uploads',
  source_session_id: 'sk-other',
  status: 'completed',
  started_at: '2026-01-01T00:00:00Z',
  ended_at: '2026-01-01T00:01:00Z',
  outcome_summary: { total_evaluations: 1, passed_count: 1, failed_count: 0, pass_rate: 1 },
  eval_outcomes: [
    {
      eval_name: 'Tone',
      eval_category: 'tone',
      eval_type: 'session_level',
      outcome: 'pass',
      reasoning: '',
    },
  ],
};

const defects: readonly ServiceDefect[] = [
  {
    title: 'only the first span of a request becomes a turn',
    transform: onTurnsOfRequests(hasReversedTurns, ([first, , third]) =>
      [first, third].filter((turn) => turn !== undefined),
    ),
    says: /: only the first span of a request with 2 spans becomes a turn \(exchange \d+\)\. Read every span of a scope$/,
    clears: ['SERVICE-099', 'SERVICE-164', 'SERVICE-198'],
  },
  {
    title: 'a later request replaces the spans of an earlier one',
    transform: onTurnsOfRequests(hasReversedTurns, (turns) => turns.slice(0, 1)),
    says: /: the spans of a later request \(exchange \d+\) replace those of an earlier one \(exchange \d+\) /,
    clears: ['SERVICE-099', 'SERVICE-164'],
  },
  {
    title: 'spans that are sent again become further turns',
    transform: onTurnsOfRequests(contains(RETRY_TAG), (turns) => [...turns, ...turns.slice(0, 1)]),
    says: /: a span that is sent again \(exchanges \d+, \d+, \d+\) becomes another turn\. Ignore a span whose id/,
    clears: ['SERVICE-102', 'SERVICE-178'],
  },
  {
    title: 'turns only of the first session of a page',
    transform: chain(
      onPages('production', (page) => sessionsIn(page).slice(1).forEach(removeKey('traces'))),
      onPages('simulations', (page) => sessionsIn(page).slice(1).forEach(removeKey('traces'))),
    ),
    says: /: with include_traces=true, only the first session of a page has `traces` \(/,
    clears: ['SERVICE-098', 'SERVICE-145'],
  },
  {
    title: 'flags that are never true',
    transform: chain(ignoreFlags('production'), ignoreFlags('simulations')),
    says: /: include_traces=true and failed_only=true have no effect \(/,
    clears: ['SERVICE-098', 'SERVICE-112', 'SERVICE-145', 'SERVICE-149'],
  },
  {
    title: 'passed outcomes that are never listed',
    transform: chain(
      onSessions('production', keepFailures),
      onSessions('simulations', keepFailures),
    ),
    says: /: `eval_outcomes` lists only the failing outcomes, also without failed_only=true \(/,
    clears: ['SERVICE-111', 'SERVICE-138', 'SERVICE-148'],
  },
  {
    title: 'a request that repeats a span loses its new one',
    transform: onTurnsOfRequests(contains(RETRY_TAG), (turns) => turns.slice(0, 1)),
    says: /: a request that repeats a span loses its new spans \(exchange \d+\)\. Ignore only the span/,
    clears: ['SERVICE-102', 'SERVICE-178'],
  },
];

for (const { title, transform, says, clears } of defects) {
  void t.test(`one cause: ${title}`, async (t) => {
    assertOneCause(t, await reportWith(transform), says, clears);
  });
}

/** Answers as a service whose end calls also close other conversations: here, every second one. */
const closeAll: TransformFactory = () => {
  const closed = new Set<string>();
  return async (request, forward) => {
    const response = await forward(request);
    if (request.endpoint !== 'end' || !isSuccess(response)) return response;
    closed.add(request.path);
    const isOpen = closed.size % 2 === 0;
    return isOpen ? response : editBody(response, request, set('/already_closed', true));
  };
};

void t.test('an end call that closes other conversations is the first cause', async (t) => {
  const { causes: found } = await reportWith(closeAll);
  t.match(found[0]?.description, /: an end call also closes other conversations: the first call/);
  for (const id of ['SERVICE-046', 'SERVICE-049']) t.ok(found[0]?.clears.includes(id), id);
});

void t.test('production sessions among the simulations are the first cause', async (t) => {
  const { causes: found } = await reportWith(
    onPages('simulations', (page, { path }) => {
      if (queryParameter(path, 'failed_only') === 'true') return;
      const items = sessionsIn(page);
      const total = Number(page['total']);
      const limit = Number(queryParameter(path, 'limit') ?? 50);
      const skip = Number(queryParameter(path, 'skip') ?? 0);
      // It is the oldest session, so it is the last one.
      const isShown = skip + items.length === total && items.length < limit;
      Object.assign(page, {
        items: isShown ? [...items, misplacedSession] : items,
        total: total + 1,
      });
    }),
  );
  t.match(
    found[0]?.description,
    /: a production session is listed among the simulations: source_session_id "sk-other" \(/,
  );
  for (const id of ['SERVICE-139', 'SERVICE-146', 'SERVICE-148', 'SERVICE-155']) {
    t.ok(found[0]?.clears.includes(id), id);
  }
});

/** Lists only the live conversations that started before today. They are not closed with the others. */
const hideToday: TransformFactory = onPages('production', (page) => {
  const items = sessionsIn(page);
  const startOf = ({ started_at: startedAt }: ResultsObject): number =>
    instantMs(String(startedAt)) ?? 0;
  const newestMs = Math.max(...items.map(startOf));
  const kept = items.filter(
    (session) => !isLiveRun(session['run']) || startOf(session) < newestMs - DAY_MS / 2,
  );
  Object.assign(page, { items: kept, total: Number(page['total']) - items.length + kept.length });
});

void t.test('closes that are never scored are one cause', async (t) => {
  const { causes: found } = await reportWith(hideToday);
  const cause = found.find(({ description }) =>
    / whose end calls queue evals are /.test(description),
  );
  t.match(cause?.description, /: 1\d of 1\d conversations .*: each was closed at almost the same/);
  t.ok(cause?.clears.includes('SERVICE-219'));
});
