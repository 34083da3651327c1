/** `POST /drain` ends, even when the service clock stands still, and reports what it waited for. */
import t from 'tap';
import { createControls } from '../../../src/service/admin/create-controls.ts';
import { drain } from '../../../src/service/admin/work.ts';
import { manualClock } from '../../../src/platform/manual-clock.ts';
import { START_MS, withService } from '../../support/services/service.ts';
import { settle } from '../../support/sessions/job-runner.ts';

void t.test(
  'drain gives up after two minutes of system time and names the unfinished work',
  async (t) => {
    for (const [nextDueAtMs, message] of [
      [
        START_MS + 5_000,
        /^After 120000 ms, 3 evals .* The next one is due at 2026-11-20T10:00:05\.000Z on the service clock\. Advance it/,
      ],
      [START_MS, /^After 120000 ms, 3 evals are still not scored\.$/],
    ] as const) {
      const machineClock = manualClock(0);
      const options = {
        machineClock,
        clock: manualClock(START_MS),
        wake: () => undefined,
        drain: () => new Promise<never>(() => undefined),
        isSimulating: () => false,
        store: { jobs: { getBacklog: () => Promise.resolve({ count: 3, nextDueAtMs }) } },
      };
      const draining = drain(options);
      const rejected = Promise.all([
        t.rejects(draining, { code: 'busy', message }),
        t.rejects(createControls(options as never).drain(), {
          name: 'SandboxKitError',
          code: 'timeout',
          message: /^drain: After 120000 ms, 3 evals /,
        }),
      ]);
      let isOver = false;
      void draining.catch(() => (isOver = true));
      machineClock.advance(119_999);
      await settle();
      t.equal(isOver, false);
      machineClock.advance(1);
      await rejected;
    }
  },
);

void t.test('unrelated requests do not delay drain', async (t) => {
  const { admin, send, service } = await withService(t);
  await admin('POST /faults', { kind: 'slow', delay_ms: 600_000, route: 'results' });
  const slow = send('GET /api/simulations/sessions/');
  t.same(await admin('POST /drain'), { drained: true });
  await service.stop();
  t.equal((await slow).status, 200);
});
