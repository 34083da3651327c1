/** The limits of dry runs: time, number, and failures. */
import t from 'tap';
import { manualClock } from '../../../src/platform/manual-clock.ts';
import { silentLog } from '../../../src/platform/log.ts';
import { createDryRun, type ScoreEval } from '../../../src/service/operations/dry-run.ts';
import { newEval, newSession } from '../../support/database/rows.ts';
import { withStore } from '../../support/database/store.ts';

void t.test('a dry run ends with its time limit, and only a few run concurrently', async (t) => {
  const { store, ownerId } = await withStore(t);
  await store.sessions.add(newSession(ownerId, 'one'));
  const machineClock = manualClock(0);
  let started = Promise.withResolvers<undefined>();
  // Never ends, even when it is aborted.
  const scoreEval: ScoreEval = () => {
    started.resolve(undefined);
    return new Promise(() => {});
  };
  const run = createDryRun({ store, scoreEval, machineClock, log: silentLog });
  const runs = [];
  for (let nth = 0; nth < 4; nth += 1) {
    started = Promise.withResolvers();
    runs.push(run(ownerId, newEval('a'), 'one'));
    await started.promise;
  }
  await t.rejects(run(ownerId, newEval('a'), 'one'), { code: 'busy', message: /4 dry runs/ });
  machineClock.advance(55_000);
  for (const { outcome, reasoning } of await Promise.all(runs)) {
    t.equal(outcome, 'error');
    t.match(reasoning, 'The dry run was stopped after 55 s.');
  }
  const other = createDryRun({
    store,
    machineClock,
    log: silentLog,
    scoreEval: () => Promise.reject(new RangeError('secret text')),
  });
  const { outcome, reasoning } = await other(ownerId, newEval('a'), 'one');
  t.same(
    [outcome, reasoning],
    ['error', 'Scoring failed (RangeError). This is a bug in the service.'],
  );
  await t.rejects(other(ownerId, newEval('a'), 'two'), { code: 'not_found' });
  const stranger = await store.owners.ensure('team b');
  await t.rejects(other(stranger, newEval('a'), 'one'), { code: 'not_found' });
});
