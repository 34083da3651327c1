/** The changes of a sandbox after which `check --watch` runs again. */
import t from 'tap';
import { waitForChange } from '../../../conformance/index.ts';
import type { PeerState } from '../../../conformance/watch.ts';
import { createSkippingClock } from '../../../src/platform/clock.ts';

const up = (health: Record<string, unknown> = {}, uptime?: number): PeerState => ({
  isUp: true,
  health: { http: 200, status: 'healthy', version: '1.0', ...health },
  uptime,
});
const down: PeerState = { isUp: false, health: {}, uptime: undefined };

/** Waits with these states, one per request; the last one stays. Stops after 20 requests. */
async function watch(states: readonly PeerState[]) {
  const clock = createSkippingClock(0);
  const stop = new AbortController();
  const lost: string[] = [];
  const [before = down, ...later] = states;
  let polls = 0;
  const startedMs = clock.monotonicMs();
  const reason = await waitForChange({
    clock,
    before,
    peer: 'sandbox',
    intervalMs: 500,
    signal: stop.signal,
    poll() {
      if (polls >= 20) stop.abort();
      return Promise.resolve(later[Math.min(polls++, later.length - 1)] ?? before);
    },
    onLost: (message) => lost.push(message),
  });
  return { reason, lost, polls, tookMs: clock.monotonicMs() - startedMs };
}

void t.test('a change counts after two equal responses in a row', async (t) => {
  const rows: [title: string, states: PeerState[], reason: string | undefined, lost: number][] = [
    ['nothing changes', [up()], undefined, 0],
    ['only the uptime grows', [up({}, 1), up({}, 2), up({}, 3)], undefined, 0],
    ['it comes back', [up(), down, down, up(), up()], 'The sandbox responds again.', 1],
    ['it was down from the start', [down, up(), up()], 'The sandbox responds again.', 1],
    ['it comes and goes', [up(), down, up(), down, up(), down], undefined, 1],
    ['it never comes back', [up(), down], undefined, 1],
    ['another process', [up({}, 90), up({}, 0), up({}, 1)], 'The sandbox restarted.', 0],
    [
      'another version',
      [up(), up({ version: '1.1' }), up({ version: '1.1' })],
      'The version of the sandbox changed from "1.0" to "1.1".',
      0,
    ],
    [
      'another health',
      [up(), up({ status: 'degraded' }), up({ status: 'degraded' })],
      'The status of the sandbox changed from "healthy" to "degraded".',
      0,
    ],
    [
      'a dependency',
      [up(), up({ dependencies: { database: 'unhealthy' } })],
      'The health response of the sandbox changed.',
      0,
    ],
    ['one odd response', [up(), up({ status: 'degraded' }), up(), up(), up()], undefined, 0],
  ];
  for (const [title, states, reason, lost] of rows) {
    const result = await watch(states);
    t.equal(result.reason, reason, title);
    t.equal(result.lost.length, lost, `${title}: one message`);
    t.ok(result.tookMs >= result.polls * 500, `${title}: at most one request per 500 ms`);
  }
});
