/** The judge: checks a sandbox over the network, and says what holds. The wing's one door. */
import type { Area, CheckReport, ExchangeRecord } from '../src/contract/index.ts';
import { isoTime, systemClock, type Clock } from '../src/shared/clock.ts';
import { drive, plan, type DriveOptions } from './drive/run.ts';
import { failedGate, type Gate } from './judge/gate.ts';
import { reportOf } from './reports/report.ts';
import type { Exchange, Transcript } from './transcript/transcript.ts';

export { plan, SUITE, type Plan } from './drive/run.ts';
export {
  areaOf,
  idsOf,
  requirement,
  requirementIds,
  unseen,
  type Requirement,
  type RequirementId,
} from './requirements/index.ts';
export { readTranscript, UnreadableRecording, writeTranscript } from './transcript/transcript.ts';
export { reportOf } from './reports/report.ts';

/** All areas that this suite judges. */
export const areas: readonly Area[] = ['chat', 'health', 'users'];

/** Messages that make many support agents use a tool; `--prompt` replaces them. */
export const defaultPrompts: readonly string[] = [
  'Where is my order A-1001?',
  'What are your opening hours?',
  'I would like a refund for order A-1001, please.',
];

/** What to check, and how; only the target has no default. */
export interface CheckOptions {
  target: string;
  kitVersion: string;
  seed: string;
  areas?: readonly Area[];
  apiKey?: string | undefined;
  ca?: string | undefined;
  clock?: Clock;
  concurrency?: number;
  ratePerSecond?: number | undefined;
  timeoutMs?: number;
  allowHttp?: boolean;
  prompts?: readonly string[];
  /** A warn counts as a fail. */
  strict?: boolean;
  onExchange?: (exchange: ExchangeRecord) => void;
}

/** A finished check: the transcript, and the report made from it. */
export interface Checked {
  transcript: Transcript;
  report: CheckReport;
}

/** Checks a sandbox. Rejects only for faults of the kit: whatever a sandbox does is in the report. */
export async function check(options: CheckOptions): Promise<Checked> {
  const full = withDefaults(options, false);
  const transcript = await drive(full);
  const endedAt = isoTime(full.clock.nowMs());
  return {
    transcript,
    report: reportOf(transcript, endedAt, { strict: options.strict ?? false }),
  };
}

/** What the preflight saw. */
export interface Diagnosis {
  gate: Gate | undefined;
  exchanges: readonly Exchange[];
}

/** Runs the preflight alone: whether there is a sandbox here that could be checked. */
export async function diagnose(options: CheckOptions): Promise<Diagnosis> {
  const transcript = await drive(withDefaults(options, true));
  return { gate: failedGate(transcript), exchanges: transcript.exchanges };
}

/** What `check` would send, with its defaults. */
export function planned(options: Pick<CheckOptions, 'areas' | 'prompts'>): ReturnType<typeof plan> {
  return plan({
    areas: options.areas ?? areas,
    prompts: options.prompts ?? defaultPrompts,
    preflightOnly: false,
  });
}

function withDefaults(options: CheckOptions, preflightOnly: boolean): DriveOptions {
  return {
    target: options.target,
    kitVersion: options.kitVersion,
    seed: options.seed,
    areas: options.areas ?? areas,
    apiKey: options.apiKey,
    ca: options.ca,
    clock: options.clock ?? systemClock,
    concurrency: options.concurrency ?? 4,
    ratePerSecond: options.ratePerSecond,
    timeoutMs: options.timeoutMs ?? 30_000,
    allowHttp: options.allowHttp ?? false,
    prompts: options.prompts ?? defaultPrompts,
    preflightOnly,
    onExchange: options.onExchange ?? (() => {}),
  };
}
