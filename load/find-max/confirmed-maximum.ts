import { formatDuration } from '../../src/report-kit/format.ts';
import { confirm } from './confirm.ts';
import { searchBracket, type Attempt, type SearchBounds } from './search.ts';

/** A run of the search is a step, or the longer confirmation of its result. */
export type RunLength = 'step' | 'confirmation';

/**
 * Why a run shows nothing about the sandbox: the load generator could not keep up, or the sandbox had
 * not closed the calls of the step before.
 */
export type Obstacle = 'generator' | 'open_calls';

/** What a run shows about the sandbox. */
export interface JudgedRun<Step> {
  step: Step;
  obstacle: Obstacle | undefined;
  windowMs: number;
}

/** A search for the most requests per second, or the most calls, that a sandbox sustains. */
export interface MaximumSearch<Run, Step> {
  bounds: SearchBounds;
  /** Returns the value to try if one is not confirmed; undefined if there is none. */
  lower: (value: number) => number | undefined;
  /** Loads the sandbox; resolves to undefined if the caller has stopped. */
  load: (value: number, length: RunLength) => Promise<Run | undefined>;
  /** Returns undefined for a run that was stopped. */
  judge: (run: Run) => JudgedRun<Step> | undefined;
  wording: SearchWording;
}

/** How the result of a search is said. */
export interface SearchWording {
  /** Such as `20 requests/s`. */
  quantity: (value: number) => string;
  /** Such as `at 20 requests/s`. */
  at: (value: number) => string;
  /** Such as `the most that the search tries`. */
  most: string;
}

/** The result of a search, with its last run. */
export interface Maximum<Run, Step> {
  sustains: number | null;
  fails: number | null;
  confirmed: boolean;
  summary: string;
  steps: Step[];
  /** The confirmation, or the last step if there was none. */
  run: Run | undefined;
}

/** Finds a maximum: in steps, by bisection, and with a longer confirmation. */
export async function findConfirmedMaximum<Run, Step extends { holds: boolean; reason: string }>({
  bounds,
  lower,
  load,
  judge,
  wording,
}: MaximumSearch<Run, Step>): Promise<Maximum<Run, Step>> {
  const steps: Step[] = [];
  const obstacles = new Map<number, Obstacle>();
  const last: { run?: Run } = {};
  const attemptAs =
    (length: RunLength) =>
    async (value: number): Promise<Attempt> => {
      const run = await load(value, length);
      if (run) last.run = run;
      const judged = run && judge(run);
      if (!judged) return { holds: undefined, last: true };
      const { step, obstacle, windowMs } = judged;
      const suffix = length === 'step' ? '' : `, confirmation of ${formatDuration(windowMs)}`;
      steps.push({ ...step, reason: step.reason + suffix });
      if (obstacle) obstacles.set(value, obstacle);
      const isOpen = obstacle === 'open_calls';
      // If the load generator could not keep up, a higher value shows nothing; a lower one may.
      return { holds: step.holds, last: isOpen || (obstacle !== undefined && length === 'step') };
    };
  const bracket = await searchBracket(bounds, attemptAs('step'));
  const { sustains, fails, confirmed } = await confirm(bracket, attemptAs('confirmation'), lower);
  const obstacle = fails === undefined ? undefined : obstacles.get(fails);
  const found: Found = {
    sustains,
    confirmed,
    fails: obstacle ? undefined : fails,
    unknown: fails !== undefined && obstacle ? { value: fails, obstacle } : undefined,
    doubt: sustains === undefined || confirmed ? undefined : obstacles.get(sustains),
    isMost: sustains === bounds.max,
  };
  return {
    sustains: sustains ?? null,
    fails: found.fails ?? null,
    confirmed,
    summary: describeResult(found, wording),
    steps,
    run: last.run,
  };
}

interface Found {
  sustains: number | undefined;
  fails: number | undefined;
  /** A value that did not fail because of the sandbox. */
  unknown: { value: number; obstacle: Obstacle } | undefined;
  /** Why the sustained value could not be confirmed. */
  doubt: Obstacle | undefined;
  confirmed: boolean;
  isMost: boolean;
}

function describeResult(
  { sustains, fails, unknown, doubt, confirmed, isMost }: Found,
  { quantity, at, most }: SearchWording,
): string {
  const limit = unknown ? `${at(unknown.value)} ${describeObstacle(unknown.obstacle)}` : '';
  if (sustains === undefined) {
    if (fails !== undefined) return `The sandbox does not sustain even ${quantity(fails)}.`;
    const reason = limit === '' ? '' : `: ${limit}`;
    return `No step of the search completed${reason}.`;
  }
  const sustained = confirmed
    ? `The sandbox sustains ${quantity(sustains)}`
    : `The sandbox sustained ${quantity(sustains)} for one step, which is not confirmed${doubt ? ` (${obstacleTexts[doubt]})` : ''}`;
  if (fails !== undefined) return `${sustained}; it fails ${at(fails)}.`;
  if (limit !== '') return `${sustained}; ${limit}.`;
  return isMost ? `${sustained}, ${most}.` : `${sustained}.`;
}

const obstacleTexts: Record<Obstacle, string> = {
  generator: 'the load generator could not keep up',
  open_calls: 'calls of the step before were still open',
};

const describeObstacle = (obstacle: Obstacle): string =>
  obstacle === 'generator'
    ? obstacleTexts.generator
    : `it is unknown, because ${obstacleTexts[obstacle]}`;
