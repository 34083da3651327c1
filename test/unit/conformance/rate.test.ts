/** What a burst above the request rate shows if the service also responds with 503. */
import t from 'tap';
import { isBusyResponse } from '../../../conformance/areas/service/traces/bursts.ts';
import { admitsRate, limitsRate } from '../../../conformance/areas/service/traces/rate.ts';
import type { Finding } from '../../../conformance/engine/checks/check.ts';
import {
  toExchange,
  type Exchange,
  type Transcript,
} from '../../../conformance/engine/transcript/transcript.ts';
import { newRunRecord } from '../../support/conformance/run-record.ts';

const respond = (status: number, index: number, step = 'rate'): Exchange =>
  toExchange({
    record: 'exchange',
    id: index + 1,
    probe: 'service/rate',
    intent: 'open',
    endpoint: 'traces',
    step,
    startedMs: index,
    endedMs: index + 1,
    request: { method: 'POST', path: '/v1/traces', headers: {} },
    response: { status, headers: {}, body: '' },
  });

/** As many requests as a run sends to a service that never responds with 429. */
const REQUESTS = 248;

const createBurst = (statusOf: (index: number) => number, length = REQUESTS): Transcript => ({
  run: newRunRecord({ intrusive: true }),
  exchanges: Array.from({ length }, (_, index) => respond(statusOf(index), index)),
});

const check = limitsRate();

const judge = (transcript: Transcript): Finding[] =>
  check.judge(check.evidence(transcript), transcript);

const countBusy = (transcript: Transcript): number =>
  transcript.exchanges.filter((exchange) => isBusyResponse(exchange, transcript)).length;

void t.test('a busy service that admits fewer requests than the rate is not judged', (t) => {
  const busy = createBurst((index) => (index % 3 === 0 ? 200 : 503));
  t.same(check.evidence(busy), []);
  t.match(check.unjudged(busy).reason, /refused so many concurrent requests with 503/);
  t.ok(countBusy(busy) > 100);
  t.end();
});

void t.test('a busy service may respond with 503 next to 429', (t) => {
  const mixed = createBurst((index) => {
    if (index % 3 === 0) return 503;
    return index < 180 ? 200 : 429;
  }, 210);
  t.ok(check.evidence(mixed).length > 0);
  t.same(judge(mixed), []);
  t.end();
});

void t.test('503 to every request above the rate is no busy service', (t) => {
  const refusing = createBurst((index) => (index < 120 ? 200 : 503));
  t.match(judge(refusing), [{ exchange: 121, received: /503/, hint: /429 and Retry-After/ }]);
  t.equal(countBusy(refusing), 0);
  t.end();
});

void t.test('a service that admits every request has no limit', (t) => {
  t.match(judge(createBurst(() => 200)), [{ expected: /not after 248/ }]);
  t.end();
});

void t.test('a limit that concurrent requests exceed in two minutes is counted too late', (t) => {
  const exchanges = ['rate again', 'rate once more'].flatMap((step, burst) =>
    Array.from({ length: 152 }, (_, index) =>
      respond(index < 150 ? 200 : 429, burst * 152 + index, step),
    ),
  );
  t.match(judge({ run: newRunRecord({ intrusive: true }), exchanges }), [
    { exchange: 150, expected: /not after 150/, hint: /^Count each request when it arrives/ },
  ]);
  t.end();
});

void t.test('requests between two bursts count toward the rate of the second one', (t) => {
  const judgeSecond = (admitted: number): Finding[] => {
    const steps: [step: string, status: number, count: number][] = [
      ['rate', 200, 130],
      ['rate', 429, 1],
      ['after Retry-After', 200, 1],
      ['rate again', 200, admitted],
      ['rate again', 429, 1],
    ];
    const exchanges = steps
      .flatMap(([step, status, count]) => Array.from({ length: count }, () => ({ step, status })))
      .map(({ step, status }, index) => respond(status, index, step));
    const seed: Exchange = { ...respond(200, 0, 'make keys'), endpoint: 'admin' };
    const transcript = { run: newRunRecord({ intrusive: true }), exchanges: [seed, ...exchanges] };
    const admits = admitsRate();
    return admits.judge(admits.evidence(transcript), transcript);
  };
  t.same(judgeSecond(119), []);
  t.match(judgeSecond(60), [{ expected: /not after 61/ }]);
  t.end();
});
