import type { AgentFault } from '../src/contract/index.ts';
import { armFault, createFaultList, pickFaults, type ArmedFault } from '../src/http-kit/faults.ts';
import type { Clock } from '../src/platform/clock.ts';
import type { Random } from '../src/platform/random.ts';
import type { AgentFaultStatus } from './controls.ts';
import { RequestError } from './errors.ts';
import { appliesTo, type FaultRoute } from './faults.ts';

/** What to inject into a request. */
export interface InjectedFaults {
  /** Milliseconds to wait first. */
  delayMs: number;
  /** The fault to inject after the delay; never a latency. */
  fault: AgentFault | undefined;
}

/** The faults that the agent injects on demand. */
export interface FaultInjector {
  /** Returns whether no faults are set, which is the usual case and is checked on every request. */
  isEmpty(): boolean;
  /**
   * Returns what to inject into a request to `route` and counts it as injected: at most one latency
   * and one other fault, the first of each in the order of request header, admin, options.
   */
  inject(route: FaultRoute, fromHeader: AgentFault | undefined): InjectedFaults;
  /**
   * Returns what to inject into a call, from its WebSocket to its last packet, and counts it as
   * injected: the first fault of each kind, in the same order.
   */
  injectIntoCall(fromHeader: AgentFault | undefined): AgentFault[];
  /** Replaces the faults that were set by admin. */
  setAdmin(faults: readonly AgentFault[]): void;
  /** @throws RequestError `bad_request` when too many faults are set. */
  addAdmin(fault: AgentFault): void;
  list(): AgentFaultStatus[];
  /** Removes the faults set by admin and sets those of the options again. */
  reset(): void;
}

/** Creates a fault injector. Delays are drawn from `random` in the order of injection. */
export function createFaultInjector({
  clock,
  random,
  options,
}: {
  clock: Clock;
  random: Random;
  options: readonly AgentFault[];
}): FaultInjector {
  const createError = (message: string): RequestError => new RequestError('bad_request', message);
  const adminFaults = createFaultList<AgentFault>(clock, createError);
  const optionFaults = createFaultList<AgentFault>(clock, createError);
  optionFaults.replaceAll(options);

  const candidatesFor = (
    route: FaultRoute,
    fromHeader: AgentFault | undefined,
  ): ArmedFault<AgentFault>[] => {
    const candidates = [...adminFaults.active(), ...optionFaults.active()];
    if (fromHeader) candidates.unshift(armFault(clock, fromHeader));
    return candidates.filter(({ fault }) => appliesTo(fault, route));
  };
  return {
    isEmpty: () => adminFaults.isEmpty() && optionFaults.isEmpty(),
    inject(route, fromHeader) {
      const candidates = candidatesFor(route, fromHeader);
      const { delay, failure } = pickFaults(candidates, ({ kind }) => kind === 'latency');
      const { min_ms: min, max_ms: max } = delay?.latency ?? { min_ms: 0, max_ms: 0 };
      return { delayMs: max > 0 ? random.integer(min, max) : 0, fault: failure };
    },
    injectIntoCall(fromHeader) {
      const firstByKind = new Map<string, ArmedFault<AgentFault>>();
      for (const armed of candidatesFor('voice', fromHeader)) {
        if (!firstByKind.has(armed.fault.kind)) firstByKind.set(armed.fault.kind, armed);
      }
      return Array.from(firstByKind.values(), (armed) => {
        armed.injected += 1;
        return armed.fault;
      });
    },
    setAdmin: (faults) => adminFaults.replaceAll(faults),
    addAdmin: (fault) => adminFaults.add(fault),
    list: () => [
      ...adminFaults.statuses().map((status) => ({ ...status, source: 'admin' as const })),
      ...optionFaults.statuses().map((status) => ({ ...status, source: 'options' as const })),
    ],
    reset() {
      adminFaults.replaceAll([]);
      optionFaults.replaceAll(options);
    },
  };
}
