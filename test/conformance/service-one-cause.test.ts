/** A defect of a service that spoils many responses is reported as one cause. */
import t from 'tap';
import { serviceMutants } from '../../conformance/areas/mutants.ts';
import { ownerOf } from '../../conformance/areas/service/owners.ts';
import {
  queryParameter,
  sessionsIn,
  type ResultsObject,
} from '../../conformance/areas/service/results-api.ts';
import { isStep, sessionsOf } from '../../conformance/areas/service/transcript.ts';
import { onPages, onSessions, refusal } from '../../conformance/areas/service/transforms.ts';
import {
  chain,
  changeResponse,
  drop,
  editBody,
  isSuccess,
} from '../../conformance/engine/mutants/combinators.ts';
import type { ProxyRequest, TransformFactory } from '../../conformance/engine/mutants/mutant.ts';
import { toExchange, type Exchange } from '../../conformance/engine/transcript/transcript.ts';
import { reportOf } from '../../conformance/index.ts';
import {
  assertOneCause,
  reportWith,
  type ServiceDefect,
} from '../support/conformance/one-cause.ts';
import { idsWith } from '../support/conformance/verdicts.ts';
import { recordRun } from '../support/conformance/checked-service.ts';
import { recordServiceOnce } from '../support/conformance/recorded-runs.ts';
import { renameKeys, toCamel, withDistortion } from '../support/sandboxes/distortions.ts';
import { withStartedService } from '../support/services/started-service.ts';

const isSpecified = ({ path }: ProxyRequest): boolean => !path.startsWith('/__admin');

const ERRORS = /: errors are sent with status 200 \(/;
const OWNERS = /: a key (sees sessions|closes a conversation) of another owner \(/;
const SUMMARIES = /: `outcome_summary` contradicts `eval_outcomes`: /;
const TOTALS = /: `total` contradicts the listed sessions: /;
const causes = [ERRORS, OWNERS, SUMMARIES, TOTALS];
const WRAPPED = /: the body is wrapped in "data" \(.*Send its fields at the top level$/;
const RENAMED = /: found `sessions`, the name is `items` \(/;
const CAMEL = /: found `\w+`, the name is .*without a conversion to camel case$/;

/** Edits the JSON bodies of successful responses of the specified interface, except to traces. */
const onBodies = (edit: (body: unknown) => unknown): TransformFactory =>
  changeResponse(isSpecified, (response, { endpoint }) => {
    const isEdited = response.status < 300 && endpoint !== 'traces' && response.body !== '';
    const body = (): string => JSON.stringify(edit(JSON.parse(response.body)));
    return isEdited ? { ...response, body: body() } : response;
  });

const swapCounts: Parameters<typeof onSessions>[1] = (session) => {
  const summary = session['outcome_summary'] as Record<string, unknown>;
  const { passed_count: passed, failed_count: failed } = summary;
  Object.assign(summary, { passed_count: failed, failed_count: passed });
};

const defects: readonly ServiceDefect[] = [
  {
    title: 'errors with status 200',
    transform: changeResponse(isSpecified, (response) =>
      // A burst that is never refused would go on.
      response.status >= 400 && response.status !== 429 ? { ...response, status: 200 } : response,
    ),
    says: ERRORS,
    clears: ['SERVICE-020', 'SERVICE-022', 'SERVICE-023', 'SERVICE-029', 'SERVICE-048'],
    hint: /^The body is an error\. Send it with status 4/,
  },
  {
    title: 'a count of passed outcomes that is the count of failed ones',
    transform: chain(onSessions('production', swapCounts), onSessions('simulations', swapCounts)),
    says: SUMMARIES,
    clears: ['SERVICE-112', 'SERVICE-113', 'SERVICE-123', 'SERVICE-149', 'SERVICE-159'],
  },
  {
    title: 'a wrapped body',
    transform: onBodies((data) => ({ data })),
    says: WRAPPED,
    clears: ['SERVICE-041', 'SERVICE-071', 'SERVICE-131'],
  },
  {
    title: 'a list with another name',
    transform: onBodies((body) => {
      const { items, ...others } = body as ResultsObject;
      return items === undefined ? body : { ...others, sessions: items };
    }),
    says: RENAMED,
    clears: ['SERVICE-071', 'SERVICE-131'],
  },
  {
    title: 'names in camel case',
    transform: onBodies((body) => renameKeys(body, toCamel)),
    says: CAMEL,
    clears: ['SERVICE-041', 'SERVICE-084', 'SERVICE-092', 'SERVICE-142'],
  },
  {
    title: 'a total of one session too many',
    transform: chain(
      onPages('production', (page) => void (page['total'] = Number(page['total']) + 1)),
      onPages('simulations', (page) => void (page['total'] = Number(page['total']) + 1)),
    ),
    says: TOTALS,
    clears: ['SERVICE-080', 'SERVICE-116', 'SERVICE-119', 'SERVICE-135', 'SERVICE-155'],
  },
];

for (const { title, transform, says, clears, hint } of defects) {
  void t.test(`one cause: ${title}`, async (t) => {
    assertOneCause(t, await reportWith(transform), says, clears, hint);
  });
}

void t.test('one cause: keys see the sessions of another owner', async (t) => {
  const { transcript } = await recordServiceOnce();
  const { run, exchanges } = transcript;
  const seenByAll = (endpoint: Exchange['endpoint']): ResultsObject[] =>
    exchanges.filter((page) => isStep(page, endpoint, 'whole')).flatMap(sessionsOf);
  const mixed = exchanges.map((page) => {
    const { json, sent, response, ...record } = page;
    const isRead = page.endpoint === 'production' || page.endpoint === 'simulations';
    const isOther = ['another owner', 'bare', 'after 24 hours'].includes(page.step);
    if (!isRead || !isOther || !response) return page;
    const items = [...seenByAll(page.endpoint), ...sessionsOf(page)];
    const body = JSON.stringify({ ...(json as object), items, total: items.length });
    return toExchange({ ...record, response: { ...response, body } });
  });
  const report = reportOf({ run, exchanges: mixed }, run.startedAt);
  assertOneCause(t, report, OWNERS, ['SERVICE-119', 'SERVICE-121', 'SERVICE-156']);
  t.match(report.causes[0]?.example, { expected: 'no session of another owner' });
});

void t.test('one cause: a key closes conversations of another owner', async (t) => {
  const { transcript } = await recordServiceOnce();
  const { run, exchanges } = transcript;
  const closed = exchanges.map((exchange) => {
    const { json, sent, response, ...record } = exchange;
    if (!isStep(exchange, 'end', 'close of another') || !response) return exchange;
    const body = '{"conversation_id":"c","status":"evaluating","evaluations_queued":0}';
    return toExchange({ ...record, response: { ...response, status: 200, body } });
  });
  const report = reportOf({ run, exchanges: closed }, run.startedAt);
  assertOneCause(t, report, OWNERS, ['SERVICE-067']);
});

/** Answers as a service whose spans arrive only between the first and the second end call. */
const storeLate: TransformFactory = () => {
  const calls = new Map<string, number>();
  return async (request, forward) => {
    const response = await forward(request);
    if (request.endpoint !== 'end' || !isSuccess(response)) return response;
    const count = (calls.get(request.path) ?? 0) + 1;
    calls.set(request.path, count);
    if (count === 1) return refusal(404);
    return count === 2 ? editBody(response, request, drop('/already_closed')) : response;
  };
};

void t.test('spans that are stored only after the response are the first cause', async (t) => {
  const { causes: found } = await reportWith(storeLate);
  t.match(
    found[0]?.description,
    /: the spans of a conversation are accepted, but are not stored yet/,
  );
  for (const id of ['SERVICE-040', 'SERVICE-045']) t.ok(found[0]?.clears.includes(id), id);
});

/** Lists one session fewer than the limit if the page would be full. */
const shorten: Parameters<typeof onPages>[1] = (page, { path }) => {
  const limit = Math.min(500, Number(queryParameter(path, 'limit') ?? 50));
  const sessions = sessionsIn(page);
  if (limit > 0 && sessions.length >= limit) page['items'] = sessions.slice(0, limit - 1);
};

void t.test('pages that lack a session are the first cause, not a wrong total', async (t) => {
  const { causes: found } = await reportWith(
    chain(onPages('production', shorten), onPages('simulations', shorten)),
  );
  t.match(found[0]?.description, /: pages list one session fewer than `limit`: /);
  t.ok(found[0]?.clears.includes('SERVICE-080'));
  t.same(
    found.filter(({ description }) => TOTALS.test(description)),
    [],
  );
});

const others: readonly (readonly [title: string, mutant: string, fails: string])[] = [
  ['a service that accepts what it must refuse sends no errors', 'no-id-taken', 'SERVICE-020'],
  [
    'a list without one failing session has no wrong total',
    'production-failed-one-less',
    'SERVICE-112',
  ],
  [
    'outcomes that are not listed do not make a wrong summary',
    'failed-lists-passed',
    'SERVICE-113',
  ],
  ['sessions under internal ids belong to no other owner', 'own-session-id', 'SERVICE-219'],
];

for (const [title, id, fails] of others) {
  void t.test(`none of these causes: ${title}`, async (t) => {
    const found = serviceMutants.find((one) => one.id.endsWith(id));
    const transform = found?.transform;
    if (!transform) throw new Error(`Unknown mutant ${id}`);
    const report = await reportWith(transform);
    t.ok(idsWith(report, 'fail').includes(fails), idsWith(report, 'fail').join());
    t.same(
      report.causes.filter(({ description }) => causes.some((cause) => cause.test(description))),
      [],
    );
  });
}

void t.test('the owner of each request is known', async (t) => {
  const service = await withStartedService(t);
  const ownerByKey = new Map<string, string>();
  const keyByTrace = new Map<string, string>();
  const url = await withDistortion(t, service.url, () => (request, forward) => {
    const [, owner] = /\/seed\?owner=check-\w+-(\w+)$/.exec(request.path) ?? [];
    const keys = (request.json as { keys?: { key: string }[] } | undefined)?.keys ?? [];
    for (const { key } of keys) if (owner !== undefined) ownerByKey.set(key, owner);
    keyByTrace.set(
      request.headers['traceparent'] ?? '',
      request.headers['x-service-api-key'] ?? '',
    );
    return forward(request);
  });
  const { exchanges } = await recordRun({ url, apiKey: service.apiKey });
  const wrong = exchanges.filter((exchange) => {
    const key = keyByTrace.get(exchange.request.headers['traceparent'] ?? '') ?? '';
    const owner = ownerByKey.get(key);
    return owner !== undefined && exchange.endpoint !== 'admin' && owner !== ownerOf(exchange);
  });
  t.same(
    wrong.map(({ probe, step }) => `${probe} ${step}`),
    [],
  );
  t.ok(ownerByKey.size >= 10, `${ownerByKey.size} owners`);
});
