import type {
  CallerCosts,
  CallVerdict,
  LoadVerdict,
  VoiceLoad,
  VoiceSummary,
} from '../../src/contract/index.ts';
import {
  judgeAudioLatency,
  findPercentile,
  type LatencyJudgment,
} from '../../src/voice/latency/index.ts';
import { callFaultWords } from '../record/call-fault-words.ts';
import type { SeenCalls } from '../verdict/voice.ts';
import type { CallOutcome } from '../voice/fleet-messages.ts';
import type { VoiceRun } from '../voice/voice-run.ts';
import { voiceSeconds } from './voice-seconds.ts';

/** A call, and what is known of its latency; nothing of one that was not held. */
export interface JudgedCall {
  call: CallOutcome;
  latency: LatencyJudgment | undefined;
}

/** Each call against the audio latency target. */
export function judgedCalls({ calls }: VoiceRun): JudgedCall[] {
  return calls.map((call) => {
    const { isHeld, pathMs, turnResponsesMs } = call;
    return { call, latency: isHeld ? judgeAudioLatency({ pathMs, turnResponsesMs }) : undefined };
  });
}

/** What is judged of the calls. */
export function seenCalls(run: VoiceRun, placed: number, judged: readonly JudgedCall[]): SeenCalls {
  return {
    calls: placed,
    held: judged.filter(({ call }) => call.isHeld).length,
    kinds: Object.entries(errorsOf(run.calls))
      .map(([kind, times]) => `${kind} ${times}`)
      .join(', '),
    ranMs: run.ranMs,
    latencies: judged.flatMap(({ call: { pathMs }, latency }) =>
      latency ? [{ pathMs, verdict: latency.verdict }] : [],
    ),
  };
}

/** The part of a report that is about calls. */
export function voiceLoad(run: VoiceRun, placed: number, judged: readonly JudgedCall[]): VoiceLoad {
  const { calls } = run;
  const known = (pick: (call: CallOutcome) => number | undefined): VoiceSummary =>
    summaryOf(calls.flatMap((call) => pick(call) ?? []));
  const sum = (pick: (call: CallOutcome) => number): number =>
    calls.reduce((total, call) => total + pick(call), 0);
  const latencies = judged.flatMap(({ latency }) => latency?.verdict ?? []);
  const verdicts = (wanted: string): number => latencies.filter((one) => one === wanted).length;
  const connected = calls.filter(({ isConnected }) => isConnected);
  return {
    calls: placed,
    connected: connected.length,
    held: calls.filter(({ isHeld }) => isHeld).length,
    lost: connected.filter(({ isHeld, fault }) => !isHeld && fault !== undefined).length,
    errors: errorsOf(calls),
    latencyVerdicts: {
      met: verdicts('met'),
      missed: verdicts('missed'),
      notProven: verdicts('not_proven'),
    },
    readyMs: known(({ readyMs }) => readyMs),
    setupMs: known(({ setupMs }) => setupMs),
    firstPacketMs: known(({ firstPacketMs }) => firstPacketMs),
    audioPathLatencyMs: known(({ pathMs }) => pathMs),
    roundTripMs: summaryOf(calls.flatMap(({ roundTripsMs }) => roundTripsMs)),
    jitterMs: known(({ jitterMs }) => jitterMs),
    turnResponseMs: summaryOf(calls.flatMap(({ turnResponsesMs }) => turnResponsesMs)),
    turns: sum(({ turns }) => turns),
    unansweredTurns: sum(({ unansweredTurns }) => unansweredTurns),
    packets: {
      sent: sum(({ sent }) => sent),
      received: sum(({ received }) => received),
      lost: sum(({ lost }) => lost),
      reordered: sum(({ reordered }) => reordered),
      gaps: sum(({ gaps }) => gaps),
      longestGapMs: rounded(Math.max(0, ...calls.map(({ longestGapMs }) => longestGapMs))),
    },
    callers: callerCosts(run),
    perCall: judged.map(verdictOf),
    faultSamples: samplesOf(run),
    timeline: voiceSeconds(run),
  };
}

/** The processes at their worst. */
export function callerCosts({ costs, ended, processes }: VoiceRun): CallerCosts {
  const worst = (values: readonly number[]): number => rounded(Math.max(0, ...values));
  return {
    processes,
    ended: ended.length,
    cpuPercent: worst(costs.map(({ cpuPercent }) => cpuPercent)),
    loopLateP99Ms: worst(costs.map(({ loopLateP99Ms }) => loopLateP99Ms)),
    sendLateP99Ms: worst(costs.map(({ sendLateP99Ms }) => sendLateP99Ms)),
    sendLateMaxMs: worst(costs.map(({ sendLateMaxMs }) => sendLateMaxMs)),
  };
}

/** Where the callers did not keep up, no call is judged. */
export function underCallerCheck(perCall: readonly CallVerdict[], isValid: boolean): CallVerdict[] {
  if (isValid) return [...perCall];
  return perCall.map((call) =>
    call.verdict === 'NOT TESTED' ? call : { ...call, verdict: 'INVALID RUN' },
  );
}

const words: Record<LatencyJudgment['verdict'], LoadVerdict> = {
  met: 'PASS',
  missed: 'FAIL',
  not_proven: 'NOT PROVEN',
};

function verdictOf({ call, latency }: JudgedCall): CallVerdict {
  const { nth, fault, setupMs, pathMs, turnResponsesMs, lost } = call;
  const reason = latency
    ? `${latency.reason}.`
    : fault
      ? `${callFaultWords[fault.kind]}: ${fault.detail}`
      : 'There was no window for it.';
  return {
    call: nth,
    verdict: latency ? words[latency.verdict] : fault ? 'FAIL' : 'NOT TESTED',
    reason,
    ...(fault && { fault: fault.kind }),
    setupMs: orNull(setupMs),
    audioPathLatencyMs: orNull(pathMs),
    turnResponseMs: orNull(findPercentile(turnResponsesMs, 50)),
    lostPackets: lost,
  };
}

function errorsOf(calls: readonly CallOutcome[]): VoiceLoad['errors'] {
  const counts = new Map<string, number>();
  for (const { fault } of calls) {
    if (fault) counts.set(fault.kind, (counts.get(fault.kind) ?? 0) + 1);
  }
  return Object.fromEntries([...counts].sort(([, one], [, other]) => other - one));
}

const SAMPLES_OF_A_KIND = 3;

function samplesOf({ calls, windowStartMs }: VoiceRun): VoiceLoad['faultSamples'] {
  const seen = new Map<string, number>();
  return calls.flatMap(({ nth, session, fault }) => {
    if (!fault) return [];
    const { kind, detail } = fault;
    const times = (seen.get(kind) ?? 0) + 1;
    seen.set(kind, times);
    if (times > SAMPLES_OF_A_KIND) return [];
    const atMs = fault.atMs - (windowStartMs ?? fault.atMs);
    return [{ kind, call: nth, atMs: Math.round(atMs), session, detail }];
  });
}

function summaryOf(values: readonly number[]): VoiceSummary {
  const at = (percent: number): number | null => orNull(findPercentile(values, percent));
  const total = values.reduce((sum, value) => sum + value, 0);
  return {
    p50: at(50),
    p90: at(90),
    p95: at(95),
    p99: at(99),
    max: at(100),
    mean: values.length === 0 ? null : rounded(total / values.length),
  };
}

const orNull = (value: number | undefined): number | null =>
  value === undefined ? null : rounded(value);

const rounded = (value: number): number => Math.round(value * 100) / 100;
