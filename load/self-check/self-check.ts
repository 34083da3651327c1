import type { CallerCosts, SelfCheck, SelfCheckFigure } from '../../src/contract/index.ts';
import { formatQuantity } from '../../src/report-kit/format.ts';
import type { Cost } from './meter.ts';
import { roundTo } from '../../src/platform/round.ts';

/** Measurements of the load generator itself. */
export interface GeneratorFigures {
  /** Send lag: how late requests left, in milliseconds; null if none were sent. */
  lagP99Ms: number | null;
  lagMaxMs: number | null;
  /** Requests that were due and never sent. */
  missed: number;
  /** Failures of this machine: no more ports, files, or memory. */
  localFaults: number;
  cost: Cost;
}

/** The most that the load generator may contribute to what it measures. */
export interface GeneratorLimits {
  lagP99MsMax: number;
  lagMsMax: number;
  /** Share of the time when the event loop was busy, 0 to 1. */
  loopBusyMax: number;
  /** Percent of one core. */
  cpuPercentMax: number;
}

/** A send lag of at most 1% of the chat target at p99, and 5% at most. */
export const GENERATOR_LIMITS: GeneratorLimits = {
  lagP99MsMax: 50,
  lagMsMax: 250,
  loopBusyMax: 0.7,
  cpuPercentMax: 70,
};

/** The most that the processes that place calls may contribute to what they measure. */
export interface CallerLimits {
  sendLateP99MsMax: number;
  loopLateP99MsMax: number;
  /** Percent of one core, for each process. */
  cpuPercentMax: number;
}

/** One audio frame (a tenth of the audio latency target), and some spare processor time. */
const CALLER_LIMITS: CallerLimits = {
  sendLateP99MsMax: 20,
  loopLateP99MsMax: 20,
  cpuPercentMax: 85,
};

/**
 * Checks whether the load generator kept up. If it did not, the measurements describe the generator.
 * Response times count from the due time of a request, so mere lag can only lengthen them.
 *
 * @param stopReasons Why the run stopped early. Then lag is not a reason, because a stop causes it.
 */
export function checkGenerator(
  generator: GeneratorFigures,
  limits: GeneratorLimits = GENERATOR_LIMITS,
  stopReasons: readonly string[] = [],
): SelfCheck {
  const { lagP99Ms, lagMaxMs, missed, localFaults, cost } = generator;
  const losses = [
    figure('requests not sent', missed, 0, ''),
    figure(LOCAL_ERRORS, localFaults, 0, ''),
  ];
  const figures = [
    figure('send lag p99', lagP99Ms ?? 0, limits.lagP99MsMax, 'ms'),
    figure('send lag max', lagMaxMs ?? 0, limits.lagMsMax, 'ms'),
    ...losses,
    ...costFigures(cost, limits),
  ];
  const exceeded = figures.filter(({ holds }) => !holds);
  const check = selfCheckOf(figures, stopReasons.length > 0 ? [] : exceeded, stopReasons);
  const isOnlyLate = stopReasons.length === 0 && losses.every(({ holds }) => holds);
  return check.valid ? check : { ...check, isOnlyLate };
}

/**
 * Checks the load generator of a closed loop. A busy one does not make the run invalid, because it can
 * only lower the rate that the sandbox reaches.
 */
export function checkClosedLoop(
  { localFaults, cost }: Pick<GeneratorFigures, 'localFaults' | 'cost'>,
  limits: GeneratorLimits = GENERATOR_LIMITS,
  stopReasons: readonly string[] = [],
): SelfCheck {
  const local = figure(LOCAL_ERRORS, localFaults, 0, '');
  const exceeded = local.holds || stopReasons.length > 0 ? [] : [local];
  const figures = [...costFigures(cost, limits), local];
  return selfCheckOf(figures, exceeded, stopReasons);
}

const costFigures = (cost: Cost, limits: GeneratorLimits): SelfCheckFigure[] => [
  figure('event loop busy', Math.round(cost.loopBusy * 1000) / 10, limits.loopBusyMax * 100, '%'),
  figure('CPU', cost.cpuPercent, limits.cpuPercentMax, '% of a core'),
];

/**
 * Checks whether the processes that placed the calls kept up.
 *
 * @param stop Why the run stopped early. After an interruption, lag does not count, because a stop causes
 *   some.
 */
export function checkCallers(
  costs: CallerCosts,
  localFaults: number,
  stop: { wasInterrupted: boolean; reasons: readonly string[] },
  limits: CallerLimits = CALLER_LIMITS,
): SelfCheck {
  const ended = figure('processes that ended early', costs.ended, 0, '');
  const figures = [
    figure('audio send lag p99', costs.sendLateP99Ms, limits.sendLateP99MsMax, 'ms'),
    figure('event loop delay p99', costs.loopLateP99Ms, limits.loopLateP99MsMax, 'ms'),
    figure('CPU of callers', costs.cpuPercent, limits.cpuPercentMax, '% of a core'),
    ended,
    figure(`${LOCAL_ERRORS} of calls`, localFaults, 0, ''),
  ];
  // Each process that exited early has its own reason.
  const exceeded = figures.filter((each) => !each.holds && each !== ended);
  return selfCheckOf(figures, stop.wasInterrupted ? [] : exceeded, stop.reasons);
}

/** Combines the self-checks of requests and of calls. */
export function mergeSelfChecks(requests: SelfCheck, calls: SelfCheck): SelfCheck {
  return {
    valid: requests.valid && calls.valid,
    ...(requests.isOnlyLate === true && calls.valid && { isOnlyLate: true }),
    reasons: [...requests.reasons, ...calls.reasons],
    figures: [...requests.figures, ...calls.figures],
  };
}

/**
 * Combines the self-checks of all shards, each of which must hold. A figure is the worst of all shards;
 * counts are added.
 */
export function mergeShardChecks(
  shards: readonly { name: string; check: SelfCheck }[],
  otherReasons: readonly string[],
): SelfCheck {
  const failed = shards.filter(({ check }) => !check.valid);
  const reasons = [
    ...failed.flatMap(({ name, check }) => check.reasons.map((reason) => `${name}: ${reason}`)),
    ...otherReasons,
  ];
  const byName = Map.groupBy(
    shards.flatMap(({ check }) => check.figures),
    (each) => each.name,
  );
  const figures = [...byName.values()].flatMap((same): SelfCheckFigure[] => {
    const [first] = same;
    const values = same.map(({ value }) => value);
    const value = first?.unit === '' ? values.reduce((a, b) => a + b, 0) : Math.max(...values);
    return first ? [{ ...first, value, holds: same.every(({ holds }) => holds) }] : [];
  });
  const valid = reasons.length === 0;
  const isOnlyLate =
    otherReasons.length === 0 && failed.every(({ check }) => check.isOnlyLate === true);
  return { valid, ...(!valid && { isOnlyLate }), reasons, figures };
}

/** The name of a figure: failures of this machine. */
const LOCAL_ERRORS = 'local errors';

/**
 * Returns what to do about a load generator that did not keep up. Less load is no advice, because it can't
 * prove a target on requests per second or on calls.
 */
const adviseFor = (exceeded: readonly SelfCheckFigure[]): string =>
  exceeded.every(({ name }) => name.startsWith(LOCAL_ERRORS))
    ? 'Free ports, open files, or memory on its machine, and run it again.'
    : 'Run it on a faster machine, or on one with less other work.';

function figure(name: string, value: number, limit: number, unit: string): SelfCheckFigure {
  return { name, value: roundTo(value, 2), limit, unit, holds: value <= limit };
}

function selfCheckOf(
  figures: SelfCheckFigure[],
  exceeded: readonly SelfCheckFigure[],
  otherReasons: readonly string[],
): SelfCheck {
  const measured = exceeded.map(
    ({ name, value, limit, unit }) =>
      `${name} ${formatQuantity(value, unit)} (limit ${formatQuantity(limit, unit)})`,
  );
  const reasons = [
    ...otherReasons,
    ...(measured.length === 0
      ? []
      : [`The load generator could not keep up: ${measured.join(', ')}. ${adviseFor(exceeded)}`]),
  ];
  return { valid: reasons.length === 0, reasons, figures };
}
