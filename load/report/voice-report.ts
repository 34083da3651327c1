import type {
  CallerCosts,
  CallVerdict,
  LoadReport,
  LoadVerdict,
  VoiceLoad,
  VoiceSecond,
  VoiceSummary,
} from '../../src/contract/index.ts';
import { findPercentile } from '../../src/platform/percentile.ts';
import { judgeAudioLatency, type LatencyJudgment } from '../../src/voice/latency/index.ts';
import { describeNetwork } from '../../src/voice/line-impairment/network-presets.ts';
import { seededRandom } from '../../src/platform/random.ts';
import { formatCount, formatNumber } from '../../src/report-kit/format.ts';
import type { LoadRun } from '../load-run.ts';
import { describeCounts } from '../record/counts.ts';
import { callFaultDescriptions } from '../record/fault-descriptions.ts';
import { checkCallers, mergeSelfChecks } from '../self-check/self-check.ts';
import { judgeCalls } from '../verdict/run-targets.ts';
import { applySelfCheck } from '../verdict/run-verdict.ts';
import type { CallMeasurements } from '../verdict/voice.ts';
import { judgeCallThreshold } from '../thresholds/judge-call-threshold.ts';
import type { CallOutcome } from '../voice/fleet-messages.ts';
import type { VoiceRun } from '../voice/voice-run.ts';
import { concludeRun } from './conclusion.ts';
import { describeInterruption } from './early-end.ts';
import { describeMachine } from './report.ts';
import { SAMPLES_PER_KIND } from '../record/recorder.ts';
import { roundTo } from '../../src/platform/round.ts';

/** Adds the calls of a run to its report, and judges the run again with them. */
export function withVoice(report: LoadReport, run: VoiceRun, options: LoadRun): LoadReport {
  const { plan, blockedBy } = report;
  const judged = judgeLatencies(run);
  const voice = summarizeCalls(run, plan.calls ?? 0, judged);
  const { callers, errors } = voice;
  const { wasInterrupted, ranMs } = run;
  const stop = { wasInterrupted, reasons: earlyEndReasons(run, report) };
  const callCheck = checkCallers(callers, errors['local'] ?? 0, stop, options.voice?.callerLimits);
  const selfCheck = mergeSelfChecks(report.selfCheck, callCheck);
  const random = seededRandom(`${options.seed}/voice`);
  const thresholds = (options.thresholds ?? [])
    .filter(({ metric }) => metric.source === 'voice')
    .map((each) => judgeCallThreshold(each, run.calls, random.fork(each.row.id)));
  const measurements: CallMeasurements = {
    calls: voice.calls,
    held: voice.held,
    errorCounts: describeCounts(errors),
    ranMs,
    latencies: judged.flatMap(({ call: { pathMs }, latency }) =>
      latency ? [{ pathMs, verdict: latency.verdict }] : [],
    ),
  };
  const voiceTargets = applySelfCheck(
    [...judgeCalls(measurements, random), ...thresholds],
    selfCheck,
  );
  // The self-check of the requests was applied when their report was built.
  const targets = applySelfCheck(report.targets, callCheck).map(
    (target) => voiceTargets.find(({ id }) => id === target.id) ?? target,
  );
  return {
    ...report,
    ...concludeRun({ targets, selfCheck, blockedBy, plan }, options),
    targets,
    selfCheck,
    machine: report.machine ?? describeMachine('WebRTC calls', callers.cpuPercent),
    voice: { ...voice, perCall: invalidateCalls(voice.perCall, selfCheck.valid) },
    notes: [...report.notes, ...networkNotes(plan), ...voiceNotes(voice)],
  };
}

/** Returns why a run of calls ended early. */
function earlyEndReasons(
  { calls, lostProcesses, wasInterrupted, windowStartMs, ranMs }: VoiceRun,
  { plan, streams }: LoadReport,
): string[] {
  const crashed = lostProcesses.map(
    ({ calls: lost, exitReason }) =>
      `A process of the load generator with ${formatCount(lost, 'call')} ended early (${exitReason}).`,
  );
  // A run with requests reports the interruption itself.
  if (!wasInterrupted || streams.length > 0) return crashed;
  if (windowStartMs === undefined) {
    const connected = calls.filter(({ isConnected }) => isConnected).length;
    return [
      ...crashed,
      `The run was interrupted before the steady state, when ${connected} of ${formatCount(plan.calls ?? 0, 'call')} had connected.`,
    ];
  }
  return [...crashed, describeInterruption(ranMs, plan)];
}

function networkNotes({ network }: LoadReport['plan']): string[] {
  return network === undefined
    ? []
    : [
        `The calls went over a bad network, from the callers to the sandbox only: ${describeNetwork(network)}.`,
      ];
}

function voiceNotes({ turns, unansweredTurns, turnResponseMs }: VoiceLoad): string[] {
  return [
    'The time to connect includes about 100 ms that the kit itself waits before the media handshake.',
    ...(unansweredTurns === 0
      ? []
      : [
          `${formatNumber(unansweredTurns)} of ${formatCount(turns, 'turn')} got no audible response within 10 s.`,
        ]),
    ...((turnResponseMs.p50 ?? 0) < 0
      ? [
          'The agent mostly spoke before the simulated user had finished, so the response latency does not show its speed.',
        ]
      : []),
  ];
}

/** A call and its latency verdict; undefined if the call was not held. */
interface JudgedCall {
  call: CallOutcome;
  latency: LatencyJudgment | undefined;
}

/** Judges each held call against the audio latency target. */
function judgeLatencies({ calls }: VoiceRun): JudgedCall[] {
  return calls.map((call) => {
    const { isHeld, pathMs, turnResponsesMs } = call;
    return { call, latency: isHeld ? judgeAudioLatency({ pathMs, turnResponsesMs }) : undefined };
  });
}

/** Builds the part of a report that describes the calls. */
function summarizeCalls(run: VoiceRun, placed: number, judged: readonly JudgedCall[]): VoiceLoad {
  const { calls } = run;
  const summarize = (pick: (call: CallOutcome) => number | undefined): VoiceSummary =>
    summarizeTimes(calls.flatMap((call) => pick(call) ?? []));
  const sum = (pick: (call: CallOutcome) => number): number =>
    calls.reduce((total, call) => total + pick(call), 0);
  const latencies = judged.flatMap(({ latency }) => latency?.verdict ?? []);
  const countOf = (verdict: string): number =>
    latencies.filter((latency) => latency === verdict).length;
  const connected = calls.filter(({ isConnected }) => isConnected);
  return {
    calls: placed,
    connected: connected.length,
    held: calls.filter(({ isHeld }) => isHeld).length,
    lost: connected.filter(({ isHeld, fault }) => !isHeld && fault !== undefined).length,
    errors: countErrors(calls),
    latencyVerdicts: {
      met: countOf('met'),
      missed: countOf('missed'),
      notProven: countOf('not_proven'),
    },
    readyMs: summarize(({ readyMs }) => readyMs),
    setupMs: summarize(({ setupMs }) => setupMs),
    firstPacketMs: summarize(({ firstPacketMs }) => firstPacketMs),
    audioPathLatencyMs: summarize(({ pathMs }) => pathMs),
    roundTripMs: summarizeTimes(calls.flatMap(({ roundTripsMs }) => roundTripsMs)),
    jitterMs: summarize(({ jitterMs }) => jitterMs),
    turnResponseMs: summarizeTimes(calls.flatMap(({ turnResponsesMs }) => turnResponsesMs)),
    turns: sum(({ turns }) => turns),
    unansweredTurns: sum(({ unansweredTurns }) => unansweredTurns),
    packets: {
      sent: sum(({ sent }) => sent),
      received: sum(({ received }) => received),
      lost: sum(({ lost }) => lost),
      reordered: sum(({ reordered }) => reordered),
      gaps: sum(({ gaps }) => gaps),
      longestGapMs: roundTo(Math.max(0, ...calls.map(({ longestGapMs }) => longestGapMs)), 2),
    },
    callers: callerCosts(run),
    perCall: judged.map(reportCall),
    faultSamples: sampleFaults(run),
    timeline: mergeSeconds(run),
  };
}

/** Returns the worst figures of all processes that placed calls. */
function callerCosts({ costs, lostProcesses, processes }: VoiceRun): CallerCosts {
  const worst = (values: readonly number[]): number => roundTo(Math.max(0, ...values), 2);
  return {
    processes,
    ended: lostProcesses.length,
    cpuPercent: worst(costs.map(({ cpuPercent }) => cpuPercent)),
    loopLateP99Ms: worst(costs.map(({ loopLateP99Ms }) => loopLateP99Ms)),
    sendLateP99Ms: worst(costs.map(({ sendLateP99Ms }) => sendLateP99Ms)),
    sendLateMaxMs: worst(costs.map(({ sendLateMaxMs }) => sendLateMaxMs)),
  };
}

/** Replaces the verdicts of all calls with INVALID RUN when the self-check failed. */
function invalidateCalls(perCall: readonly CallVerdict[], isValid: boolean): CallVerdict[] {
  if (isValid) return [...perCall];
  return perCall.map((call) =>
    call.verdict === 'NOT TESTED' ? call : { ...call, verdict: 'INVALID RUN' },
  );
}

const loadVerdicts: Record<LatencyJudgment['verdict'], LoadVerdict> = {
  met: 'PASS',
  missed: 'FAIL',
  not_proven: 'NOT PROVEN',
};

function reportCall({ call, latency }: JudgedCall): CallVerdict {
  const { nth, fault, setupMs, pathMs, turnResponsesMs, lost } = call;
  const reason = latency
    ? `${latency.reason}.`
    : fault
      ? `${callFaultDescriptions[fault.kind]}: ${fault.detail}`
      : 'The run ended before the steady state.';
  return {
    call: nth,
    verdict: latency ? loadVerdicts[latency.verdict] : fault ? 'FAIL' : 'NOT TESTED',
    reason,
    ...(fault && { fault: fault.kind }),
    setupMs: orNull(setupMs),
    audioPathLatencyMs: orNull(pathMs),
    turnResponseMs: orNull(findPercentile(turnResponsesMs, 50)),
    lostPackets: lost,
  };
}

function countErrors(calls: readonly CallOutcome[]): VoiceLoad['errors'] {
  const counts = new Map<string, number>();
  for (const { fault } of calls) {
    if (fault) counts.set(fault.kind, (counts.get(fault.kind) ?? 0) + 1);
  }
  return Object.fromEntries([...counts].sort(([, left], [, right]) => right - left));
}

function sampleFaults({ calls, windowStartMs }: VoiceRun): VoiceLoad['faultSamples'] {
  const counts = new Map<string, number>();
  return calls.flatMap(({ nth, session, fault, traceId }) => {
    if (!fault) return [];
    const { kind, detail } = fault;
    const times = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, times);
    if (times > SAMPLES_PER_KIND) return [];
    const atMs = fault.atMs - (windowStartMs ?? fault.atMs);
    return [
      { kind, call: nth, atMs: Math.round(atMs), session, ...(traceId && { traceId }), detail },
    ];
  });
}

/** Adds up the seconds of all processes, counted from the start of the steady state. */
function mergeSeconds({ seconds, windowStartMs }: VoiceRun): VoiceSecond[] {
  // A day of seconds of several processes is too much for the arguments of one call.
  const first = seconds.reduce((least, { epochS }) => Math.min(least, epochS), Infinity);
  const zero = windowStartMs === undefined ? first : Math.floor(windowStartMs / 1_000);
  const bySecond = new Map<number, VoiceSecond>();
  for (const { epochS, up, sent, received, gaps, sendLateMaxMs } of seconds) {
    const second = epochS - zero;
    const sum = bySecond.get(second);
    bySecond.set(second, {
      second,
      up: up + (sum?.up ?? 0),
      sent: sent + (sum?.sent ?? 0),
      received: received + (sum?.received ?? 0),
      gaps: gaps + (sum?.gaps ?? 0),
      sendLateMaxMs: roundTo(Math.max(sendLateMaxMs, sum?.sendLateMaxMs ?? 0), 2),
    });
  }
  return [...bySecond.values()].sort((left, right) => left.second - right.second);
}

function summarizeTimes(values: readonly number[]): VoiceSummary {
  const at = (percent: number): number | null => orNull(findPercentile(values, percent));
  const total = values.reduce((sum, value) => sum + value, 0);
  return {
    p50: at(50),
    p90: at(90),
    p95: at(95),
    p99: at(99),
    max: at(100),
    mean: values.length === 0 ? null : roundTo(total / values.length, 2),
  };
}

const orNull = (value: number | undefined): number | null =>
  value === undefined ? null : roundTo(value, 2);
