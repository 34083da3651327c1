import { formatValue } from '../contract/index.ts';
import type { Clock } from '../platform/clock.ts';

/** The properties of every fault. */
export interface Fault {
  kind: string;
  /** How many times to inject it; without a limit when left out. */
  times?: number;
  /** Milliseconds until it ends; it never does when left out. */
  ttl_ms?: number;
}

/** A fault as `/__admin/faults` shows it. */
export interface FaultStatus<F> {
  fault: F;
  /** How many times it was injected. */
  injected: number;
  /** Whether it can still be injected: neither its `times` nor its `ttl_ms` is used up. */
  active: boolean;
}

/** A fault that was set, and how many times it was injected. */
export interface ArmedFault<F extends Fault> {
  fault: F;
  injected: number;
  /** When its `ttl_ms` ends, on the monotonic clock. */
  endsMs: number;
}

/** A list of faults that are set. */
export interface FaultList<F extends Fault> {
  isEmpty(): boolean;
  /** Returns the faults that can still be injected, in the order they were set. */
  active(): ArmedFault<F>[];
  /** Removes the faults that have ended, then adds one. */
  add(fault: F): void;
  replaceAll(faults: readonly F[]): void;
  /** Returns all faults that are set, including those that have ended. */
  armed(): readonly ArmedFault<F>[];
  /** Replaces all faults by faults that were set before. */
  restore(armed: readonly ArmedFault<F>[]): void;
  statuses(): FaultStatus<F>[];
}

/** How many faults can be set at the same time. */
export const FAULTS_MAX = 100;

/**
 * Creates an empty list of faults.
 * @param createError Creates the error that is thrown when more than `FAULTS_MAX` would be set.
 */
export function createFaultList<F extends Fault>(
  clock: Clock,
  createError: (message: string) => Error,
): FaultList<F> {
  let faults: ArmedFault<F>[] = [];
  const isActive = ({ fault, injected, endsMs }: ArmedFault<F>): boolean =>
    injected < (fault.times ?? Infinity) && clock.monotonicMs() < endsMs;
  const checkCount = (count: number): void => {
    if (count > FAULTS_MAX) throw createError(`At most ${FAULTS_MAX} faults can be set.`);
  };
  return {
    isEmpty: () => faults.length === 0,
    active: () => faults.filter(isActive),
    add(fault) {
      faults = faults.filter(isActive);
      checkCount(faults.length + 1);
      faults.push(armFault(clock, fault));
    },
    replaceAll(replacements) {
      checkCount(replacements.length);
      faults = replacements.map((fault) => armFault(clock, fault));
    },
    armed: () => faults,
    restore(armed) {
      faults = [...armed];
    },
    statuses: () =>
      faults.map((armed) => ({
        fault: armed.fault,
        injected: armed.injected,
        active: isActive(armed),
      })),
  };
}

/**
 * Returns the problem of a fault, as a sentence; undefined if it is valid.
 * @param argument The fault as the caller writes it, such as `faults[0]`.
 */
export type FindFaultProblem = (argument: string, fault: unknown) => string | undefined;

/** Rejects an invalid fault that code passes. @throws {TypeError} about its first problem. */
export function rejectFault(
  caller: string,
  value: unknown,
  findProblem: FindFaultProblem,
  argument = 'fault',
): void {
  const problem = findProblem(argument, value);
  if (problem !== undefined) throw new TypeError(`${caller}: ${problem}`);
}

/** Rejects invalid faults that code passes. @throws {TypeError} about the first problem. */
export function rejectFaults(caller: string, values: unknown, findProblem: FindFaultProblem): void {
  if (!Array.isArray(values)) {
    throw new TypeError(`${caller}: faults must be an array, got ${formatValue(values)}.`);
  }
  if (values.length > FAULTS_MAX) {
    throw new TypeError(`${caller}: faults must be an array of at most ${FAULTS_MAX} faults.`);
  }
  for (const [index, value] of values.entries()) {
    rejectFault(caller, value, findProblem, `faults[${index}]`);
  }
}

/** Sets a fault: its `ttl_ms` starts now. */
export function armFault<F extends Fault>(clock: Clock, fault: F): ArmedFault<F> {
  return { fault, injected: 0, endsMs: clock.monotonicMs() + (fault.ttl_ms ?? Infinity) };
}

/** Picks the first fault that delays and the first other fault, and counts both as injected. */
export function pickFaults<F extends Fault>(
  candidates: readonly ArmedFault<F>[],
  isDelay: (fault: F) => boolean,
): { delay: F | undefined; failure: F | undefined } {
  const delay = candidates.find(({ fault }) => isDelay(fault));
  const failure = candidates.find(({ fault }) => !isDelay(fault));
  for (const picked of [delay, failure]) if (picked) picked.injected += 1;
  return { delay: delay?.fault, failure: failure?.fault };
}
