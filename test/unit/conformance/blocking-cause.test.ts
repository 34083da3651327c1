/** Which cause a preflight has, and which advice, by its recorded exchanges alone. */
import t from 'tap';
import { sandboxSuite, serviceSuite } from '../../../conformance/areas/index.ts';
import type { BlockingCause } from '../../../conformance/engine/preflight/blocking-cause.ts';
import { findBlockingCause } from '../../../conformance/engine/preflight/preflight.ts';
import { toExchange, type Exchange } from '../../../conformance/engine/transcript/transcript.ts';
import type { ExchangeRecord, RunRecord } from '../../../src/contract/index.ts';
import { newRunRecord } from '../../support/conformance/run-record.ts';

type Outcome = Pick<ExchangeRecord, 'response' | 'failure'>;

const run = newRunRecord({ areas: ['chat', 'health', 'users'], keyGiven: false });

const routes = {
  chat: { method: 'POST', path: '/v1/chat/completions' },
  health: { method: 'GET', path: '/health' },
  traces: { method: 'POST', path: '/v1/traces' },
  end: { method: 'POST', path: '/v1/sessions/sk-nobody/end' },
  simulations: { method: 'GET', path: '/api/simulations/sessions/' },
  production: { method: 'GET', path: '/api/prod-evaluations/sessions/' },
} as const;

const exchange = (id: number, endpoint: keyof typeof routes, outcome: Outcome): Exchange =>
  toExchange({
    record: 'exchange',
    id,
    probe: 'preflight',
    step: 'plain',
    endpoint,
    intent: 'open',
    startedMs: id,
    endedMs: id + 1,
    request: { ...routes[endpoint], headers: {} },
    ...outcome,
  });

const causeOfSandbox = (outcome: Outcome): BlockingCause | undefined =>
  findBlockingCause(sandboxSuite, {
    run,
    exchanges: [exchange(1, 'health', outcome), exchange(2, 'chat', outcome)],
  });

const respond = (status: number, body: string, headers: Record<string, string> = {}): Outcome => ({
  response: { status, headers, body },
});

const JSON_TYPE = { 'content-type': 'application/json' };

void t.test('the kind of a failure decides about the advice, not its message', (t) => {
  const malformed = causeOfSandbox({ failure: { kind: 'malformed', message: 'any text' } });
  t.match(malformed, {
    id: 'malformed',
    message: 'The HTTP parser cannot read any response: any text.',
    cure: /^Let the HTTP library write the headers\./,
  });
  const foreign = causeOfSandbox({ failure: { kind: 'protocol', message: 'header chunk' } });
  t.match(foreign, {
    id: 'protocol',
    message: 'The server at this address does not speak HTTP.',
    cure: /^Check the port/,
  });
  t.end();
});

void t.test('the 404 that Koa sends by itself may hide a middleware that does not wait', (t) => {
  const koa = causeOfSandbox(
    respond(404, 'Not Found', { 'content-type': 'text/plain; charset=utf-8' }),
  );
  t.match(koa, {
    id: 'no_interface',
    message: /: every route responds with 404 "Not Found"\.$/,
    cure: /^Check the path of the URL\. .* In Koa, .* does not await next\(\)/,
  });
  const other = causeOfSandbox(respond(404, '{"detail":"Not Found"}', JSON_TYPE));
  t.match(other, { id: 'no_interface', message: /: every endpoint is unknown there\.$/ });
  t.notMatch(other?.cure, /Koa/);
  t.end();
});

/** The preflight of a service whose reads and whose end call get an empty 404. */
const unknownReads = (['production', 'simulations', 'end'] as const).map((endpoint, index) =>
  exchange(index + 1, endpoint, respond(404, '')),
);

void t.test('a service whose reads get 404 is found if it accepts traces', (t) => {
  const serviceRun: RunRecord = { ...run, areas: ['service'], keyGiven: true };
  const causeOf = (traces: Outcome): BlockingCause | undefined =>
    findBlockingCause(serviceSuite, {
      run: serviceRun,
      exchanges: [...unknownReads, exchange(4, 'traces', traces)],
    });
  t.equal(causeOf(respond(200, '{}')), undefined);
  t.match(causeOf(respond(404, '')), { id: 'no_interface' });
  t.end();
});

void t.test('a service is found if it knows the path of the results without the slash', (t) => {
  const found = exchange(5, 'production', respond(200, '{"items":[]}', JSON_TYPE));
  const cause = findBlockingCause(serviceSuite, {
    run: { ...run, areas: ['service'], keyGiven: true },
    exchanges: [
      ...unknownReads,
      exchange(4, 'traces', respond(404, '')),
      {
        ...found,
        step: 'no slash at the end',
        request: { ...found.request, path: '/api/prod-evaluations/sessions' },
      },
    ],
  });
  t.equal(cause, undefined);
  t.end();
});
