/** Which defect of a service spoils many responses, by the recorded exchanges alone. */
import t from 'tap';
import { diagnoseService } from '../../../conformance/areas/service/diagnoses/index.ts';
import { createChatSpan, createTraceExport } from '../../../conformance/areas/service/spans.ts';
import type { Repair } from '../../../conformance/engine/checks/check.ts';
import { toExchange, type Exchange } from '../../../conformance/engine/transcript/transcript.ts';
import type { ExchangeRecord } from '../../../src/contract/index.ts';
import { seededRandom } from '../../../src/platform/random.ts';
import { newRunRecord } from '../../support/conformance/run-record.ts';

const run = newRunRecord();

type Part = Pick<ExchangeRecord, 'id' | 'endpoint' | 'step' | 'startedMs'>;

const exchange = (
  part: Part,
  request: { path: string; body?: string },
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): Exchange =>
  toExchange({
    record: 'exchange',
    probe: 'service/any',
    intent: 'valid',
    ...part,
    endedMs: part.startedMs + 1,
    request: { method: part.endpoint === 'production' ? 'GET' : 'POST', headers: {}, ...request },
    response: { status, headers, body: body === undefined ? '' : JSON.stringify(body) },
  });

const diagnose = (exchanges: Exchange[]): Repair[] => [...diagnoseService({ run, exchanges })];

const describe = (exchanges: Exchange[]): string =>
  diagnose(exchanges)
    .map(({ description }) => description)
    .join('\n');

const ID = 'sk-late';
const END = `/v1/sessions/${ID}/end`;

function sendSpans(): Exchange {
  const startMs = Date.parse('2026-11-20T09:25:00.000Z');
  const conversation = { name: 'json', id: ID, passesSecondEval: true, startMs };
  const span = createChatSpan({ random: seededRandom('late') }, conversation);
  const body = JSON.stringify(createTraceExport([span]));
  const part = { id: 1, endpoint: 'traces', step: 'json', startedMs: 0 } as const;
  return exchange(part, { path: '/v1/traces', body }, 200, {});
}

const close = (id: number, step: string, startedMs: number, status: number): Exchange =>
  exchange(
    { id, endpoint: 'end', step, startedMs },
    { path: END },
    status,
    status === 200 ? { conversation_id: ID, status: 'evaluating', evaluations_queued: 1 } : {},
  );

void t.test(
  'an end call that comes before the spans are stored is distinguished from a missing route',
  (t) => {
    const early = close(2, 'close json', 3, 404);
    const exchanges = [sendSpans(), early, close(3, 'close again', 303, 200)];
    t.match(
      describe(exchanges),
      /^POST \/v1\/sessions\/\{conversation_id\}\/end: the spans of a conversation are accepted, but are not stored yet when its end call arrives: 404, \S+ ms after the spans \(exchange 2 "close json"\); the same call closes it 300 ms later \(exchange 3\)\. Respond to POST \/v1\/traces only after the spans are stored/,
    );
    const [late] = diagnose(exchanges);
    const repaired = late?.apply(early)?.response;
    t.match(repaired, { status: 200 });
    t.match(JSON.parse(repaired?.body ?? ''), {
      conversation_id: ID,
      status: 'evaluating',
      run: 'Live traces 2026-11-20',
    });
    t.same(diagnose([sendSpans(), early, close(3, 'close again', 303, 404)]), [], 'no end calls');
    t.end();
  },
);

const PRODUCTION = '/api/prod-evaluations/sessions/';

const page = (id: number, query: string, count: number, total: number): Exchange => {
  const items = Array.from({ length: count }, (_, index) => ({
    url: `https://app.example/production-eval/e?sessionId=${index}`,
    source_session_id: `s-${index}`,
  }));
  const part = { id, endpoint: 'production', step: 'defaults', startedMs: id } as const;
  return exchange(part, { path: `${PRODUCTION}${query}` }, 200, {
    items,
    total,
    skip: 0,
    limit: 50,
  });
};

void t.test('pages with one session fewer than their limit have no wrong total', (t) => {
  const said = describe([page(1, '', 49, 60), page(2, '?limit=4', 3, 60)]);
  t.match(
    said,
    /: pages list one session fewer than `limit`: 49 for a limit of 50, although `total` is 60 \(2 responses, /,
  );
  t.notMatch(said, /contradicts the listed sessions/);
  t.end();
});

void t.test('a wrong total is not mistaken for short pages', (t) => {
  const said = describe([page(1, '', 20, 60), page(2, '?limit=4', 4, 60)]);
  t.match(said, /: `total` contradicts the listed sessions: 60 instead of 20 /);
  t.notMatch(said, /fewer than `limit`/);
  t.end();
});

void t.test('a path that is known only without the slash is named', (t) => {
  const plain = { id: 1, endpoint: 'production', step: 'plain', startedMs: 0 } as const;
  const read = { path: PRODUCTION };
  const bare = { path: PRODUCTION.slice(0, -1) };
  const empty = { items: [], total: 0, skip: 0, limit: 50 };
  const found: Exchange = {
    ...exchange({ ...plain, id: 2, step: 'no slash at the end' }, bare, 200, empty),
    intent: 'open',
  };
  t.match(
    describe([exchange(plain, read, 404, undefined), found]),
    /: the path with a slash at its end is unknown \(404 for exchange 1 "plain"\), but GET \/api\/prod-evaluations\/sessions responds with 200 \(exchange 2\)\. Serve the path with the slash/,
  );
  t.match(
    describe([exchange(plain, read, 307, undefined, { location: bare.path })]),
    /: requests are redirected with 307 to \/api\/prod-evaluations\/sessions \(.*\), and redirects are not followed\. Serve the path with the slash/,
  );
  t.end();
});

void t.test(
  'reads with 404 because no session matches are distinguished from an unknown path',
  (t) => {
    const plain = { id: 1, endpoint: 'production', step: 'plain', startedMs: 0 } as const;
    t.match(
      describe([exchange(plain, { path: PRODUCTION }, 404, undefined), page(2, '', 1, 1)]),
      /: reads get 404, although the path is known \(exchange 1 "plain"\)\. If no session matches, /,
    );
    t.end();
  },
);
