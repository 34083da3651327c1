/** How often failed requests are sent again, and what a restarting sandbox loses. */
import t from 'tap';
import { createRecorder } from '../../../conformance/engine/drive/recorder.ts';
import { createRequestLimiter } from '../../../conformance/engine/drive/request-limiter.ts';
import { REPETITIONS_MAX } from '../../../conformance/engine/drive/repetition.ts';
import { createSender } from '../../../conformance/engine/drive/sender.ts';
import { createTraceparents } from '../../../src/platform/trace-context.ts';
import type { Outcome, Outgoing } from '../../../conformance/engine/drive/http-client.ts';
import { cost, type Probe, type Step } from '../../../conformance/engine/probe.ts';
import { crashesOf } from '../../../conformance/engine/transcript/crashes.ts';
import type { Exchange } from '../../../conformance/engine/transcript/reading.ts';
import type { RunRecord } from '../../../src/contract/index.ts';
import { createSkippingClock } from '../../../src/platform/clock.ts';

const probe: Probe = {
  id: 'chat/forms',
  area: 'chat',
  phase: 'accepted',
  exercises: [],
  cost: cost(1),
  run: () => Promise.resolve(),
};
const chat: Step = { endpoint: 'chat', step: 'full', intent: 'valid', body: { json: {} } };
const respond = (status: number): Outcome => ({ response: { status, headers: {}, body: '{}' } });
const refused: Outcome = { failure: { kind: 'refused', message: 'refused' } };

/** Creates a sender whose requests get these outcomes. */
function createTestSender(outcomeOf: (outgoing: Outgoing, nth: number) => Outcome): {
  send: (step: Step) => Promise<Exchange | undefined>;
  exchanges: readonly Exchange[];
} {
  const clock = createSkippingClock(0);
  const recorder = createRecorder([]);
  let nth = 0;
  const send = createSender({
    client: {
      send: (outgoing) => Promise.resolve(outcomeOf(outgoing, ++nth)),
      close: () => Promise.resolve(),
    },
    caller: undefined,
    clock,
    requestLimiter: createRequestLimiter({ clock, concurrency: 8 }),
    callLimiter: createRequestLimiter({ clock, concurrency: 1 }),
    recorder,
    settings: { apiKey: undefined, headers: {}, authorize: () => ({}), voicePath: '/voice' },
    createTraceparent: createTraceparents('test'),
    deadlineMs: () => 1_000,
    isStopped: () => false,
    onExchange() {},
    recovery: { peer: 'sandbox', signal: undefined, onWaiting() {} },
  });
  return { send: (step) => send(probe, step), exchanges: recorder.exchanges };
}

void t.test('requests that a restarting sandbox refuses are sent again', async (t) => {
  // The first request succeeds, the next eight and two polls are refused.
  const { send } = createTestSender((_outgoing, nth) =>
    nth > 1 && nth <= 11 ? refused : respond(200),
  );
  await send(chat);
  const exchanges = await Promise.all(Array.from({ length: 8 }, () => send(chat)));
  t.same(
    exchanges.map((exchange) => exchange?.response?.status),
    exchanges.map(() => 200),
  );
  t.equal((await send(chat))?.response?.status, 200, 'and the run goes on');
});

const create = (id: string): Step => ({
  endpoint: 'create',
  step: 'minimal',
  intent: 'valid',
  body: { json: { user_id: id } },
});

void t.test('users that a crash may have deleted are created again', async (t) => {
  const { send, exchanges } = createTestSender((_outgoing, nth) =>
    nth === 3 || nth === 4 ? refused : respond(201),
  );
  await send(create('first'));
  await send(create('second'));
  await send(chat);
  t.same(
    exchanges.map(({ probe, step }) => `${probe} ${step}`),
    [
      'chat/forms minimal',
      'chat/forms minimal',
      'chat/forms full',
      'recovery does it respond again?',
      'recovery does it respond again?',
      'recovery does it respond again?',
      'recovery create again after a crash',
      'recovery does it respond again?',
      'recovery create again after a crash',
      'chat/forms full',
    ],
    'after each user, the peer has to respond',
  );
  t.equal(exchanges.at(-1)?.repeats, 3);
});

void t.test('a user whose creation ends the peer is not created again twice', async (t) => {
  const { send, exchanges } = createTestSender((_outgoing, nth) =>
    // The chat request, the first poll, and the poll after the first user was created again.
    [3, 4, 7].includes(nth) ? refused : respond(201),
  );
  await send(create('fatal'));
  await send(create('second'));
  await send(chat);
  const again = exchanges.filter(({ step }) => step === 'create again after a crash');
  t.same(
    again.map(({ request, failure }) => [request.body, failure?.status]),
    [
      ['{"user_id":"fatal"}', 201],
      ['{"user_id":"second"}', undefined],
    ],
  );
  t.match(again[0]?.failure, { kind: 'reset', message: 'it ended right after the response' });
  const [crash, ...others] = crashesOf({ run: {} as RunRecord, exchanges: [...exchanges] });
  t.same(others, [], 'both crashes have one cause');
  t.same(
    crash?.culprits.map(({ id }) => id),
    [1],
  );
  await send(create('third'));
  t.equal(exchanges.at(-1)?.step, 'minimal');
  t.equal(exchanges.at(-2)?.step, 'does it respond again?', 'from now on, each user is confirmed');
});

void t.test('an endpoint that always fails is not asked twice for every request', async (t) => {
  const { send, exchanges } = createTestSender(() => respond(500));
  for (let count = 0; count < 20; count++) await send(chat);
  t.equal(exchanges.filter(({ repeats }) => repeats !== undefined).length, 4);
  t.equal(exchanges.length, 24);
});

void t.test('a run sends a limited number of requests again', async (t) => {
  const { send, exchanges } = createTestSender((_outgoing, nth) => respond(nth % 2 ? 500 : 200));
  for (let count = 0; count < 60; count++) await send(chat);
  t.equal(exchanges.filter(({ repeats }) => repeats !== undefined).length, REPETITIONS_MAX);
});

void t.test('before the first response, nothing is sent again', async (t) => {
  const { send, exchanges } = createTestSender(() => refused);
  await send(chat);
  t.equal(exchanges.length, 1);
});
