/** A run reads `GET /health` before the requests that change what it reports. */
import t from 'tap';
import type { TransformFactory } from '../../conformance/engine/mutants/mutant.ts';
import { check } from '../../conformance/index.ts';
import { rowOf } from '../support/conformance/verdicts.ts';
import { withDistortion } from '../support/sandboxes/distortions.ts';
import { startTextAgent } from '../support/sandboxes/text-agent.ts';

/** Reports NaN, the mean of no latencies, until the first chat request arrives. */
const reportMean: TransformFactory = () => {
  let chats = 0;
  return async (request, forward, clock) => {
    if (request.endpoint === 'chat') chats += 1;
    const response = await forward(request);
    if (request.endpoint !== 'health') return response;
    // Long enough for concurrent requests to arrive.
    await clock.sleep(20);
    const body = response.body.replace(/\}$/, ',"mean":NaN}');
    return chats > 0 ? response : { ...response, body };
  };
};

void t.test('a report that is invalid only before the first chat request fails', async (t) => {
  const target = await withDistortion(t, await startTextAgent(t), reportMean);
  const { report, transcript } = await check({
    target,
    kitVersion: 'test',
    seed: 'first',
    areas: ['chat', 'health', 'users'],
  });
  t.match(transcript.exchanges[0], { endpoint: 'health', step: 'plain' });
  t.match(rowOf(report, 'HEALTH-001'), { verdict: 'fail', received: /NaN at byte offset/ });
});
