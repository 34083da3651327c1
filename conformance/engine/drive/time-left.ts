import type { ExchangeRecord } from '../../../src/contract/index.ts';
import type { Clock } from '../../../src/platform/clock.ts';
import type { Phase } from '../probe.ts';
import { isOpened, isVoice } from '../transcript/call-messages.ts';
import { PREFLIGHT } from '../transcript/reading.ts';
import { CONCURRENT_CALLS_MAX, phases, type Plan, type PlannedProbe } from './run.ts';

/** Estimates the remaining time of a run from its plan and from the measured times so far. */
export interface TimeLeft {
  startPhase(phase: Phase): void;
  note(exchange: ExchangeRecord): void;
  /**
   * Returns the remaining milliseconds, 0 or more; undefined while too little is measured. If calls
   * already take longer than expected, it returns the time that the run needs after them.
   */
  estimate(): { ms: number; isMinimum: boolean } | undefined;
}

/** Requests after which their duration is known: the first ones are often slower or faster. */
const REQUESTS_MIN = 3;
const REQUESTS_SHARE_MIN = 0.25;
/** Next to calls, so few requests take hardly any time. */
const REQUESTS_FEW = 10;

/** What a probe has sent so far. */
interface Work {
  planned: PlannedProbe;
  requests: number;
  calls: number;
  /** The duration of all its calls, and the time when the last one ended. */
  callsMs: number;
  lastCallMs: number;
}

/** Creates an estimate. Phases run one after another; in a phase, requests and calls run in parallel. */
export function createTimeLeft({ probes, calls }: Plan, clock: Clock): TimeLeft {
  const works = probes.map((planned): Work => ({
    planned,
    requests: 0,
    calls: 0,
    callsMs: 0,
    lastCallMs: 0,
  }));
  const requestsTotal = works.reduce((sum, { planned }) => sum + plannedRequests(planned), 0);
  const areFew = calls > 0 && requestsTotal <= REQUESTS_FEW;
  const requestsNeeded = Math.max(REQUESTS_MIN, requestsTotal * REQUESTS_SHARE_MIN);
  let phase: Phase = 'preflight';
  let phaseStartMs = clock.monotonicMs();
  let hasCalls = true;
  let requests = 0;
  /** The time when requests were sent: before this phase, and in it. */
  let earlierMs = 0;
  let thisPhaseMs = 0;

  const countRequestsLeft = (due: readonly Work[]): number =>
    due.reduce((sum, work) => sum + Math.max(0, plannedRequests(work.planned) - work.requests), 0);
  const estimatePhase = (of: Phase): number => {
    const due = works.filter(({ planned }) => planned.probe.phase === of);
    const elapsedMs = of === phase ? clock.monotonicMs() - phaseStartMs : 0;
    const perRequestMs = requests === 0 ? 0 : (earlierMs + thisPhaseMs) / requests;
    const callsMs = hasCalls ? estimateCalls(due, { elapsedMs, phaseStartMs }) : 0;
    return Math.max(countRequestsLeft(due) * perRequestMs, callsMs);
  };
  return {
    startPhase(next) {
      earlierMs += thisPhaseMs;
      thisPhaseMs = 0;
      phase = next;
      phaseStartMs = clock.monotonicMs();
    },
    note(exchange) {
      // The preflights of all areas have the same id.
      const candidates = works.filter(({ planned }) => planned.probe.id === exchange.probe);
      if (isVoice(exchange)) {
        const work = candidates.find(({ planned }) => planned.cost.calls > 0);
        // After a preflight without an open WebSocket, no call is placed.
        if (exchange.probe === PREFLIGHT) hasCalls = isOpened(exchange);
        if (!work) return;
        work.calls++;
        work.callsMs += exchange.endedMs - exchange.startedMs;
        work.lastCallMs = clock.monotonicMs();
        return;
      }
      const work = candidates.find((each) => each.requests < plannedRequests(each.planned));
      requests++;
      if (work) work.requests++;
      thisPhaseMs = clock.monotonicMs() - phaseStartMs;
    },
    estimate() {
      if (!areFew && requests < requestsNeeded) return undefined;
      const now = works.filter(({ planned }) => planned.probe.phase === phase);
      const ms = phases
        .slice(phases.indexOf(phase))
        .reduce((sum, each) => sum + estimatePhase(each), 0);
      const isLate = hasCalls && now.some(hasCallsLeft) && estimatePhase(phase) === 0;
      return { ms, isMinimum: isLate };
    },
  };
}

/** The planned requests without those that open the WebSocket of a call. */
const plannedRequests = ({ cost }: PlannedProbe): number => cost.requests - cost.calls;

const hasCallsLeft = ({ planned, calls }: Work): boolean => calls < planned.cost.calls;

/** Returns the time until all calls of a phase have ended: the longest probe, or all calls in turn. */
function estimateCalls(
  works: readonly Work[],
  { elapsedMs, phaseStartMs }: { elapsedMs: number; phaseStartMs: number },
): number {
  const unfinished = works.filter(hasCallsLeft);
  const timeOf = ({ planned }: Work): number => planned.probe.callTime?.eachMs ?? 0;
  const chains = unfinished.map((work) => {
    if (!work.planned.probe.callTime?.isSerial) return timeOf(work) - elapsedMs;
    const left = work.planned.cost.calls - work.calls;
    const each = work.calls > 0 ? work.callsMs / work.calls : timeOf(work);
    const sinceMs = work.calls > 0 ? work.lastCallMs - phaseStartMs : 0;
    return left * each - (elapsedMs - sinceMs);
  });
  const totalMs = works.reduce((sum, work) => sum + work.planned.cost.calls * timeOf(work), 0);
  const inTurnMs = unfinished.length === 0 ? 0 : totalMs / CONCURRENT_CALLS_MAX - elapsedMs;
  return Math.max(0, inTurnMs, ...chains);
}
