import type { Area, CheckReport, ExchangeRecord } from '../src/contract/index.ts';
import { isoTime, systemClock, type Clock } from '../src/platform/clock.ts';
import { planRun, runProbes, type Plan, type RunOptions } from './engine/drive/run.ts';
import type { VoiceOptions } from './engine/drive/call/options.ts';
import { findBlockingCause } from './engine/preflight/preflight.ts';
import type { Diagnosis } from './reports/diagnosis.ts';
import { createReport } from './reports/report.ts';
import type { JudgeOptions } from './engine/judge/judge.ts';
import { sandboxSuite, suiteOf } from './areas/index.ts';
import { createExchangeValidator } from './engine/judge/one-exchange.ts';
import { findClosedVoice } from './areas/voice/absence.ts';
import { conversation } from './areas/voice/probes.ts';
import type { Transcript } from './engine/transcript/transcript.ts';

/** All areas of a sandbox, which a check is of unless it says otherwise. */
export const areas: readonly Area[] = ['chat', 'health', 'users', 'voice'];

/** The area of the service, which is checked alone: it is another server. */
export const serviceArea: readonly Area[] = ['service'];

/** Messages that make many support agents use a tool; `--prompt` replaces them. */
export const defaultPrompts: readonly string[] = [
  'Where is my order A-1001?',
  'What are your opening hours?',
  'I would like a refund for order A-1001, please.',
];

/** What to check, and how; only target, version and seed have no default. */
export interface CheckOptions {
  /** Base URL of the sandbox. */
  target: string;
  kitVersion: string;
  /** Every id of the run follows from it. */
  seed: string;
  /** All when left out. */
  areas?: readonly Area[];
  /** The sandbox's bearer key, or the service's key; none is sent when left out. */
  apiKey?: string | undefined;
  /** Lower-case name of the header that holds the service's key; `x-service-api-key`. */
  apiKeyHeader?: string | undefined;
  /** Of a service: send what is large, many or slow, too, and move the clock of its control API. */
  intrusive?: boolean | undefined;
  /** PEM of a CA to trust besides the system's. */
  ca?: string | undefined;
  clock?: Clock;
  /** Requests in flight at most; 6. */
  concurrency?: number;
  /** Requests a second at most; no bound when left out. */
  ratePerSecond?: number | undefined;
  /** Milliseconds until a chat or users request counts as unanswered; 30 000. */
  timeoutMs?: number;
  /** Waives HTTPS, also beyond loopback. */
  allowHttp?: boolean;
  /** How the voice endpoint is reached, where not as it usually is. */
  voice?: Partial<VoiceOptions> | undefined;
  /** Messages that make the agent use a tool. */
  prompts?: readonly string[];
  /** A warn counts as a fail. */
  strict?: boolean;
  /** Told after every exchange. */
  onExchange?: (exchange: ExchangeRecord) => void;
  /** Interrupts the run; the users that it created are deleted first. */
  signal?: AbortSignal | undefined;
}

/** A finished check: the transcript, and the report made from it. */
export interface CheckResult {
  transcript: Transcript;
  report: CheckReport;
}

/** Checks a sandbox. Rejects only for faults of the kit: whatever a sandbox does is in the report. */
export async function check(options: CheckOptions): Promise<CheckResult> {
  const full = withDefaults(options, false);
  const suite = suiteOf(full);
  const transcript = await runProbes(suite, full);
  const endedAt = isoTime(full.clock.nowMs());
  return {
    transcript,
    report: createReport(suite, transcript, endedAt, { strict: options.strict ?? false }),
  };
}

/** Places one call with speech in it, and judges what comes of that alone. */
export async function checkOneCall(options: CheckOptions): Promise<CheckResult> {
  const full = withDefaults({ ...options, areas: ['voice'] }, false);
  const suite = suiteOf(full);
  const transcript = await runProbes(suite, { ...full, probes: [conversation] });
  return { transcript, report: createReport(suite, transcript, isoTime(full.clock.nowMs())) };
}

/**
 * Runs the preflight alone: whether there is a sandbox, or a service, that could be checked. Where
 * voice is needed, it has to open its WebSocket as well.
 */
export async function diagnose(
  options: CheckOptions & { needsVoice?: boolean },
): Promise<Diagnosis> {
  const { needsVoice = false } = options;
  const full = withDefaults(options, true);
  const suite = suiteOf(full);
  const transcript = await runProbes(suite, full);
  const closed = findClosedVoice(transcript, needsVoice);
  const blockedBy = findBlockingCause(suite, transcript) ?? (needsVoice ? closed : undefined);
  const { exchanges } = transcript;
  return { peer: suite.peer, blockedBy, remark: closed?.message, exchanges };
}

/** Judges a transcript and returns the report from which every other view is made. */
export function reportOf(
  transcript: Transcript,
  endedAt: string,
  options: JudgeOptions = {},
): CheckReport {
  return createReport(suiteOf(transcript.run), transcript, endedAt, options);
}

/**
 * Returns the musts that a single exchange with a sandbox breaks. It serves load runs, which
 * validate many exchanges one by one.
 */
export const findBrokenMusts = createExchangeValidator(sandboxSuite);

/** What may be left out of a plan. */
export type PlanOptions = Pick<CheckOptions, 'areas' | 'prompts' | 'intrusive'>;

/** What `check` would send, with its defaults. */
export function planCheck(chosen: PlanOptions): Plan {
  const selected = chosen.areas ?? areas;
  return planRun(suiteOf({ areas: selected }), {
    areas: selected,
    prompts: chosen.prompts ?? defaultPrompts,
    preflightOnly: false,
    intrusive: chosen.intrusive ?? false,
  });
}

function withDefaults(options: CheckOptions, preflightOnly: boolean): RunOptions {
  return {
    target: options.target,
    kitVersion: options.kitVersion,
    seed: options.seed,
    areas: options.areas ?? areas,
    apiKey: options.apiKey,
    apiKeyHeader: options.apiKeyHeader,
    intrusive: options.intrusive ?? false,
    ca: options.ca,
    clock: options.clock ?? systemClock,
    concurrency: options.concurrency ?? 6,
    ratePerSecond: options.ratePerSecond,
    timeoutMs: options.timeoutMs ?? 30_000,
    allowHttp: options.allowHttp ?? false,
    voice: options.voice,
    prompts: options.prompts ?? defaultPrompts,
    preflightOnly,
    signal: options.signal,
    onExchange: options.onExchange ?? (() => {}),
  };
}
