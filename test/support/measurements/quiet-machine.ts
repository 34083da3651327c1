import type { Test } from 'tap';
import { monitorLocalDelay } from '../../../src/voice/latency/index.ts';
import { atNight } from '../nightly.ts';

const ATTEMPTS_MAX = atNight(5, 2);
const LATE_P99_MS_MAX = 5;
/** One longer delay spoils the 99th percentile of a hundred packets. */
const LATE_MS_MAX = 10;

/** The result of a measurement: whether it is as expected, and the measured values. */
type Measurement = [isExpected: boolean, values: string];

/**
 * Asserts a measurement that must be accurate to a few milliseconds. A wrong or failed measurement
 * during which this process was starved of CPU time proves nothing, so it is repeated. If the machine
 * was busy during every attempt, the test says so instead of failing.
 */
export async function onQuietMachine(
  t: Test,
  what: string,
  measure: () => Promise<Measurement>,
): Promise<void> {
  const attempt = await repeatWhileBusy(t, {
    run: () => measure().catch(toMeasurement),
    isExpected: ([isExpected]) => isExpected,
    describe: ([, values]) => `${what}: ${values}`,
    unproven: `${what}: not measured`,
  });
  if (attempt) t.ok(attempt.result[0], attempt.description);
}

/** A step that timed out is a wrong measurement: on a busy machine it is repeated like any other. */
const toMeasurement = (error: unknown): Measurement => [false, String(error)];

/**
 * Returns the result of a run. If the result is not as expected and this process was starved of CPU
 * time, the run is repeated. Returns undefined if the machine was busy during every attempt: then
 * there is nothing to assert.
 */
export async function runOnQuietMachine<Result>(
  t: Test,
  run: () => Promise<Result>,
  isExpected: (result: Result) => boolean,
): Promise<Result | undefined> {
  const describe = (): string => 'repeated';
  const attempt = await repeatWhileBusy(t, { run, isExpected, describe, unproven: 'not tested' });
  return attempt?.result;
}

interface Attempts<Result> {
  run: () => Promise<Result>;
  isExpected: (result: Result) => boolean;
  /** Describes a result, for a comment or the title of an assertion. */
  describe: (result: Result) => string;
  /** What to say if every attempt was on a busy machine. */
  unproven: string;
}

/** Repeats a run until its result is as expected or the machine was quiet during the run. */
async function repeatWhileBusy<Result>(
  t: Test,
  { run, isExpected, describe, unproven }: Attempts<Result>,
): Promise<{ result: Result; description: string } | undefined> {
  for (let nth = 0; nth < ATTEMPTS_MAX; nth += 1) {
    const stopMonitor = monitorLocalDelay();
    const result = await run();
    const { loopLateP99Ms, loopLateMaxMs } = stopMonitor();
    const late = [loopLateP99Ms, loopLateMaxMs].map((ms) => ms.toFixed(1)).join(', at most ');
    const description = `${describe(result)} (this process was ${late} ms late)`;
    const wasQuiet = loopLateP99Ms <= LATE_P99_MS_MAX && loopLateMaxMs <= LATE_MS_MAX;
    if (isExpected(result) || wasQuiet) return { result, description };
    t.comment(description);
  }
  t.comment(`${unproven}: the machine was busy during all ${ATTEMPTS_MAX} attempts`);
  return undefined;
}
