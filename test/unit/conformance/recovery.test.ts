/** How long a run waits for a sandbox that stops responding. */
import t from 'tap';
import {
  createRecovery,
  RECOVERIES_MS_MAX,
  RECOVERY_MS_MAX,
  type Recovery,
} from '../../../conformance/engine/drive/recovery.ts';
import type { ExchangeRecord } from '../../../src/contract/index.ts';
import { createSkippingClock, type Clock } from '../../../src/platform/clock.ts';

const exchange: ExchangeRecord = {
  record: 'exchange',
  id: 1,
  probe: 'recovery',
  step: 'does it respond again?',
  endpoint: 'health',
  intent: 'open',
  request: { method: 'GET', path: '/health', headers: {} },
  startedMs: 0,
  endedMs: 1,
};
const refused: ExchangeRecord = { ...exchange, failure: { kind: 'refused', message: 'refused' } };
const response = (status: number, body: string): ExchangeRecord => ({
  ...exchange,
  response: { status, headers: {}, body },
});

interface Waited {
  recovery: Recovery;
  clock: Clock;
  polls: () => number;
  messages: string[];
  restored: () => number;
}

/** Creates a recovery of a peer that responds to the poll with this number. */
function createWait(pollOf: (polls: number) => ExchangeRecord, signal?: AbortSignal): Waited {
  const clock = createSkippingClock(0);
  const messages: string[] = [];
  let polls = 0;
  let restored = 0;
  const recovery = createRecovery({
    clock,
    peer: 'sandbox',
    poll: () => Promise.resolve(pollOf(++polls)),
    restore() {
      restored++;
      return Promise.resolve(true);
    },
    signal,
    onWaiting: (message) => messages.push(message),
  });
  return { recovery, clock, polls: () => polls, messages, restored: () => restored };
}

void t.test('nothing is restored for a peer that responds immediately', async (t) => {
  const { recovery, messages, restored } = createWait(() => response(404, ''));
  t.equal(await recovery.recover(), 'up');
  t.same([messages, restored()], [[], 0]);
});

void t.test('a peer that comes back is restored once, for all that wait', async (t) => {
  const { recovery, restored, polls } = createWait((polls) =>
    polls < 4 ? refused : response(503, '{"status":"unhealthy"}'),
  );
  const states = await Promise.all([recovery.recover(), recovery.recover()]);
  t.same([states, polls(), restored()], [['restarted', 'restarted'], 4, 1]);
});

void t.test('a gateway that responds for a peer does not end the wait', async (t) => {
  const { recovery, clock, messages, polls } = createWait(() => response(502, '<html>'));
  const startedMs = clock.monotonicMs();
  t.equal(await recovery.recover(), 'gone');
  t.ok(recovery.isGone);
  const tookMs = clock.monotonicMs() - startedMs;
  t.ok(tookMs >= RECOVERY_MS_MAX && tookMs < RECOVERY_MS_MAX + 1_000, `${tookMs} ms`);
  t.ok(polls() < 25, `${polls()} requests`);
  t.equal(
    messages[0],
    'The sandbox does not respond. Waiting up to 30 s for it to come back.',
    'the wait is shown',
  );
  t.equal(await recovery.recover(), 'gone', 'and it does not wait again');
});

void t.test('all waits of a run together are limited', async (t) => {
  const { recovery, clock } = createWait((polls) =>
    polls % 12 === 0 ? response(200, '') : refused,
  );
  const startedMs = clock.monotonicMs();
  let waits = 0;
  while (!recovery.isGone && waits < 100) {
    waits++;
    await recovery.recover();
  }
  const tookMs = clock.monotonicMs() - startedMs;
  t.ok(recovery.isGone);
  t.ok(tookMs <= RECOVERIES_MS_MAX + 1_000, `${waits} waits in ${tookMs} ms`);
});

void t.test('an interruption ends the wait', async (t) => {
  const controller = new AbortController();
  const { recovery } = createWait((polls) => {
    if (polls === 2) controller.abort();
    return refused;
  }, controller.signal);
  t.equal(await recovery.recover(), 'gone');
  t.notOk(recovery.isGone, 'cleanup may still try');
});
