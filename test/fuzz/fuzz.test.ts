/** All targets of the fuzzer, each for a few seconds. `npm run test:long` runs them for as long as you like. */
import { availableParallelism } from 'node:os';
import t from 'tap';
import { systemClock } from '../../src/platform/clock.ts';
import { describeFailure, formatResult, fuzzInProcess } from './run.ts';
import { TARGET_NAMES } from './targets.ts';

const SECONDS = Number(process.env['SANDBOX_KIT_FUZZ_SECONDS'] ?? 8);

/** Another night sends other inputs. */
const SEED = Number(
  process.env['SANDBOX_KIT_FUZZ_SEED'] ?? Math.floor(systemClock.nowMs() / 86_400_000) * 100_000,
);

t.jobs = Math.max(1, Math.min(3, availableParallelism()));

for (const name of TARGET_NAMES) {
  void t.test(`${name} obeys its rules, seed ${SEED}`, { buffered: true }, async (t) => {
    const outcome = await fuzzInProcess({ name, seconds: SECONDS, seed: SEED });
    if (outcome.result) t.comment(formatResult(outcome.result));
    t.equal(describeFailure(name, outcome), undefined);
    t.ok((outcome.result?.sent ?? 0) > 0, 'inputs were sent');
  });
}
