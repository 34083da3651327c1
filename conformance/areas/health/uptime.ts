/** The unit of `uptime` in health reports (spec 2.10). */
import { resolvePointer } from '../../../src/contract/index.ts';
import type { Check, Finding } from '../../engine/checks/check.ts';
import { editBody, set, to } from '../../engine/mutants/combinators.ts';
import type { TransformFactory } from '../../engine/mutants/mutant.ts';
import type { Exchange } from '../../engine/transcript/reading.ts';

/** Units that are mistaken for seconds, and how many of them a second has. */
const wrongUnits = [
  ['milliseconds', 1e3],
  ['microseconds', 1e6],
  ['nanoseconds', 1e9],
] as const;

/** A count of seconds can grow by this much more than the time between two reports. */
const ROUNDING_SECONDS = 2;

/** The clocks of the kit and of the sandbox may differ by this much between two reports. */
const TOLERANCE_SECONDS = 0.002;

/**
 * Different processes may send the reports, and their uptimes differ by any number of seconds. Two
 * such differences can fit another unit by chance, unless some time passes between the reports.
 */
const INTERVALS_MIN = 2;
const INTERVAL_SECONDS_MIN = 4 * TOLERANCE_SECONDS;

/** Extends the check of `uptime`: it must not grow as fast as a smaller unit, from each report to the next. */
export const requireSeconds = (check: Check): Check => ({
  ...check,
  judge: (evidence, transcript) => [
    ...check.judge(evidence, transcript),
    ...findWrongUnit(evidence.filter((exchange) => Number.isInteger(uptimeOf(exchange)))),
  ],
});

const uptimeOf = ({ json }: Exchange): unknown => resolvePointer(json, '/uptime');

function findWrongUnit(reports: readonly Exchange[]): Finding[] {
  const inOrder = reports.toSorted((a, b) => a.startedMs - b.startedMs);
  const intervals = inOrder
    .slice(1)
    .map((report, index): Interval => [inOrder[index] ?? report, report]);
  const [first, last] = [inOrder[0], inOrder.at(-1)];
  const timed = intervals.filter((interval) => leastSeconds(interval) >= INTERVAL_SECONDS_MIN);
  if (!first || !last || timed.length < INTERVALS_MIN) return [];
  const grown = growthOf([first, last]);
  if (grown <= mostSeconds([first, last]) + ROUNDING_SECONDS) return [];
  const unit = wrongUnits.find(([, perSecond]) =>
    intervals.every((interval) => growsBy(perSecond, interval)),
  );
  if (!unit) return [];
  return [
    {
      exchange: last.id,
      pointer: '/uptime',
      expected: 'a number of seconds',
      received: `${Number(uptimeOf(last))}, which is ${grown} more than in exchange ${first.id}, ${Math.round(last.startedMs - first.startedMs)} ms before`,
      hint: `Divide it by ${unit[1].toLocaleString('en-US')}: it seems to be in ${unit[0]}.`,
      others: [first.id],
    },
  ];
}

/** Two reports, the earlier one first. */
type Interval = readonly [one: Exchange, other: Exchange];

const growthOf = ([one, other]: Interval): number =>
  Number(uptimeOf(other)) - Number(uptimeOf(one));

/** The least and the most time between the moments when a sandbox read its uptime. */
const leastSeconds = ([one, other]: Interval): number => (other.startedMs - one.endedMs) / 1000;
const mostSeconds = ([one, other]: Interval): number => (other.endedMs - one.startedMs) / 1000;

/** Returns whether the uptime grew by the time between two reports, in a unit of 1/`perSecond` s. */
function growsBy(perSecond: number, interval: Interval): boolean {
  const seconds = growthOf(interval) / perSecond;
  return (
    seconds >= leastSeconds(interval) - TOLERANCE_SECONDS &&
    seconds <= mostSeconds(interval) + TOLERANCE_SECONDS
  );
}

/** Counts the uptime in nanoseconds. */
export const countNanoseconds: TransformFactory = () => async (request, forward, clock) => {
  const response = await forward(request);
  if (!to('health')(request)) return response;
  return editBody(response, request, set('/uptime', Math.round(clock.monotonicMs() * 1e6)));
};
