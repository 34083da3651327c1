import type { Area, CheckReport, ExchangeRecord } from '../src/contract/index.ts';
import { isoTime, systemClock, type Clock } from '../src/platform/clock.ts';
import type { Connection } from '../src/platform/connection.ts';
import { planRun, runProbes, type Plan, type RunOptions } from './engine/drive/run.ts';
import type { VoiceOptions } from './engine/drive/call/options.ts';
import { findBlockingCause } from './engine/preflight/preflight.ts';
import type { Diagnosis } from './reports/diagnosis.ts';
import { createReport } from './reports/report.ts';
import type { JudgeOptions } from './engine/judge/judge.ts';
import { areaNamesOf, clientSuite, sandboxSuite, serviceSuite, suiteOf } from './areas/index.ts';
import type { RequirementId, RequirementSet } from './engine/requirement.ts';
import { createExchangeValidator } from './engine/judge/exchange-validator.ts';
import { findClosedVoice } from './areas/voice/absence.ts';
import { conversation } from './areas/voice/probes.ts';
import type { Transcript } from './engine/transcript/transcript.ts';

/** All areas of a sandbox; the default of a check. */
export const areas = areaNamesOf(sandboxSuite);

/** The area of the service. It can't be combined with others because the service is another server. */
export const serviceArea = areaNamesOf(serviceSuite);

/** The area of a client of the service. `judgeClient` judges it, not `check`. */
export const clientArea = areaNamesOf(clientSuite);

/** Messages that make many support agents call a tool. `--prompt` replaces them. */
export const defaultPrompts: readonly string[] = [
  'Where is my order A-1001?',
  'What are your opening hours?',
  'I would like a refund for order A-1001, please.',
];

/** How to check a peer. Only the target, the version, and the seed have no default. */
export interface CheckOptions {
  /** The base URL of the peer. */
  target: string;
  kitVersion: string;
  /** The random seed. Every id of the run is derived from it. */
  seed: string;
  /** The areas to check (default: all areas of a sandbox). */
  areas?: readonly Area[] | undefined;
  /** The bearer key of the sandbox or the key of the service (default: none is sent). */
  apiKey?: string | undefined;
  /** The lowercase name of the header with the service key (default: `x-service-api-key`). */
  apiKeyHeader?: string | undefined;
  /** Also send large, numerous, or slow requests, and advance the service clock (service only). */
  intrusive?: boolean | undefined;
  /** A CA certificate (PEM) to trust in addition to the built-in ones. */
  ca?: string | undefined;
  /** Additional headers, client certificate, and proxies. */
  connection?: Connection | undefined;
  clock?: Clock | undefined;
  /** Maximum number of requests in flight (default: 6). */
  concurrency?: number | undefined;
  /** Maximum number of requests per second (default: no limit). */
  ratePerSecond?: number | undefined;
  /** Timeout of a chat or users request (default: 30 000 ms). */
  timeoutMs?: number | undefined;
  /** Waives HTTPS for other hosts too, not only for loopback. */
  allowHttp?: boolean | undefined;
  /** How to reach the voice endpoint, if not in the usual way. */
  voice?: Partial<VoiceOptions> | undefined;
  /** Messages that make the agent call a tool. */
  prompts?: readonly string[] | undefined;
  /** Turns every warn into a fail. */
  strict?: boolean | undefined;
  /** The requirements to judge, from `selectRequirements` (default: all of the areas). */
  selected?: readonly RequirementId[] | undefined;
  /** The requirement set of a release; other requirements are notes (default: all count). */
  requirementSet?: RequirementSet | undefined;
  /** Called after every exchange, except those that wait for the peer to come back. */
  onExchange?: ((exchange: ExchangeRecord) => void) | undefined;
  /** Called with a sentence for people while the run waits for the peer to come back. */
  onWaiting?: ((message: string) => void) | undefined;
  /** Called when a phase of the run starts. */
  onPhase?: RunOptions['onPhase'];
  /** Interrupts the run. Afterwards it only deletes the users that it created. */
  signal?: AbortSignal | undefined;
}

/** A finished check: the transcript, and the report made from it. */
export interface CheckResult {
  transcript: Transcript;
  report: CheckReport;
}

/** Checks a peer. Rejects only if the kit itself fails; everything that the peer does is in the report. */
export async function check(options: CheckOptions): Promise<CheckResult> {
  const full = withDefaults(options, false);
  const suite = suiteOf(full);
  const transcript = await runProbes(suite, full);
  const endedAt = isoTime(full.clock.nowMs());
  return {
    transcript,
    report: createReport(suite, transcript, endedAt, {
      strict: options.strict ?? false,
      requirementSet: options.requirementSet,
    }),
  };
}

/** Places one call with speech and judges only that call. */
export async function checkOneCall(options: CheckOptions): Promise<CheckResult> {
  const full = withDefaults({ ...options, areas: ['voice'] }, false);
  const suite = suiteOf(full);
  const transcript = await runProbes(suite, { ...full, probes: [conversation] });
  return { transcript, report: createReport(suite, transcript, isoTime(full.clock.nowMs())) };
}

/**
 * Runs only the preflight and returns whether the peer can be checked. With `needsVoice`, its voice
 * WebSocket must open as well.
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

/** The options that determine what a check sends. */
export type PlanOptions = Pick<CheckOptions, 'areas' | 'selected' | 'prompts' | 'intrusive'>;

/** Returns what `check` would send with these options. */
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
    selected: options.selected,
    apiKey: options.apiKey,
    apiKeyHeader: options.apiKeyHeader,
    intrusive: options.intrusive ?? false,
    ca: options.ca,
    connection: options.connection,
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
    onWaiting: options.onWaiting,
    onPhase: options.onPhase,
  };
}
