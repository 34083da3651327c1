/** A distortion applied to a recorded run: which changes a recording shows, and which probes see them. */
import t from 'tap';
import { sandboxSuite, serviceSuite } from '../../../conformance/areas/index.ts';
import {
  chain,
  delay,
  dropInstead,
  passThrough,
  respondInstead,
  set,
  to,
} from '../../../conformance/engine/mutants/combinators.ts';
import { editHealth } from '../../../conformance/areas/sandbox-responses.ts';
import type { TransformFactory } from '../../../conformance/engine/mutants/mutant.ts';
import { toExchange, type Transcript } from '../../../conformance/engine/transcript/transcript.ts';
import { replay, type Replay } from '../../../conformance/proof/replay.ts';
import { newRunRecord } from '../../support/conformance/run-record.ts';

const recording: Transcript = {
  run: newRunRecord({ areas: ['health'], allowHttp: false, keyGiven: false }),
  exchanges: ['health/repeated', 'health/query'].map((probe, index) =>
    toExchange({
      record: 'exchange',
      id: index + 1,
      probe,
      step: 'plain',
      endpoint: 'health',
      intent: 'valid',
      startedMs: 0,
      endedMs: 1,
      request: { method: 'GET', path: index === 0 ? '/health' : '/health?a=b', headers: {} },
      response: { status: 200, headers: {}, body: '{"status":"healthy"}' },
    }),
  ),
};

const replayed = (transform: TransformFactory, suite = sandboxSuite): Promise<Replay> =>
  replay({ id: 'test', areas: ['health'], transform }, suite, recording);

const isHealth = to('health');
const respond = (status: number): TransformFactory =>
  respondInstead(isHealth, () => ({ status, headers: { 'X-New': 'yes' }, body: '{}' }));

void t.test('changed responses are in the recording, and the others stay', async (t) => {
  const change = editHealth(
    (body, request) => request.path === '/health' && set('/status', 'odd')(body, request),
  );
  const { transcript } = await replayed(change);
  t.match(transcript?.exchanges[0], { json: { status: 'odd' } });
  t.equal(transcript?.exchanges[1], recording.exchanges[1], 'the same exchange');
  const invented = await replayed(respond(201));
  t.match(invented.transcript?.exchanges[1]?.response, {
    status: 201,
    headers: { 'x-new': 'yes' },
  });
});

void t.test('only a run shows a change that no recording has', async (t) => {
  const unshown: Record<string, TransformFactory> = {
    'no change': passThrough,
    'a changed request': () => (request, forward) => forward({ ...request, path: '/else' }),
    'a repeated request': () => async (request, forward) => {
      await forward(request);
      return forward(request);
    },
    'a dropped connection': dropInstead(isHealth),
    'a delay': delay(isHealth, 1),
    'no response': () => () => new Promise(() => undefined),
    'an error of the transform': () => () => Promise.reject(new Error('gone')),
    'a reason phrase': () => async (request, forward) => ({
      ...(await forward(request)),
      reason: 'Fine',
    }),
    'a rate limit': respond(429),
    'a failure, which the run repeats': respond(500),
    'a change and a delay': chain(delay(isHealth, 1), editHealth(set('/status', 'odd'))),
  };
  for (const [name, transform] of Object.entries(unshown)) {
    t.equal((await replayed(transform)).transcript, undefined, name);
  }
  const { transcript } = await replayed(respond(500), serviceSuite);
  t.ok(transcript, 'a run of the service repeats no failure');
});
