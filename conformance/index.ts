/** The judge: checks a sandbox over the network, and says what holds. The wing's one door. */
import type { Area, CheckReport, ExchangeRecord } from '../src/contract/index.ts';
import { isoTime, systemClock, type Clock } from '../src/shared/clock.ts';
import { drive, plan, type DriveOptions } from './drive/run.ts';
import { failedGate } from './judge/gate.ts';
import type { SelftestOptions, SelftestResult } from './mutants/selftest.ts';
import type { Diagnosis } from './reports/diagnosis.ts';
import {
  areaNamed,
  dryRunText,
  idsOfStatement,
  requirementList,
  requirementText,
  type ListingOptions,
} from './reports/listing.ts';
import { reportOf } from './reports/report.ts';
import { requirementIds, type RequirementId } from './requirements/index.ts';
import type { Transcript } from './transcript/transcript.ts';

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
export { diagnosisJson, diagnosisText } from './reports/diagnosis.ts';
export { junitReport } from './reports/junit.ts';
export { planSentence } from './reports/listing.ts';
export { markdownReport } from './reports/markdown.ts';
export { reportOf } from './reports/report.ts';
export { terminalReport } from './reports/terminal.ts';
export type { SelftestResult } from './mutants/selftest.ts';

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

/** What may be left out of a plan. */
type Chosen = Pick<CheckOptions, 'areas' | 'prompts'>;

/** The requirements that `check` would judge, for people. */
export function listing(chosen: Chosen, options: ListingOptions): string {
  return requirementList(chosen.areas ?? areas, options);
}

/** What `check` would send, for people. */
export function dryRun(chosen: Chosen, options: ListingOptions): string {
  return dryRunText(planned(chosen), chosen.prompts ?? defaultPrompts, options);
}

/**
 * Explains a requirement, an area or a statement of the specification, for people; all requirements
 * for an empty word, undefined for an unknown one.
 */
export async function explanation(
  word: string,
  options: ListingOptions,
): Promise<string | undefined> {
  const area = areaNamed(word);
  if (word === '' || area) return requirementList(area ? [area] : areas, options);
  const { mutants } = await import('./mutants/index.ts');
  const explained = (id: RequirementId): string =>
    requirementText(
      id,
      mutants.filter(({ kills }) => kills.includes(id)),
      options,
    );
  const id = requirementIds.find((one) => one === word.toUpperCase());
  if (id) return explained(id);
  const { ids, because } = idsOfStatement(word);
  if (ids.length > 0) return ids.map(explained).join('\n');
  return because === undefined ? undefined : `${word} has no check. ${because}\n`;
}

/** Proves the judge against a conforming sandbox: see `mutants/`. */
export async function selftest(options: SelftestOptions): Promise<SelftestResult> {
  const { selftest: run } = await import('./mutants/selftest.ts');
  return run(options);
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
