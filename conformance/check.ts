import type { CheckReport } from '../src/contract/index.ts';
import { withDefaults } from '../src/options/table.ts';
import { isoTime, systemClock } from '../src/platform/clock.ts';
import { planRun, runProbes, type Plan, type RunSettings } from './engine/drive/run.ts';
import type { CheckOptions } from './generated/options.ts';
import { checkOptions } from './options.ts';
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
const defaultPrompts: readonly string[] = [
  'Where is my order A-1001?',
  'What are your opening hours?',
  'I would like a refund for order A-1001, please.',
];

type RequiredSetting = 'target' | 'kitVersion' | 'seed';

type OptionalSettings = Omit<
  RunSettings,
  RequiredSetting | 'selected' | 'probes' | 'preflightOnly'
>;

/** How to check a peer. Only the target, the version, and the seed have no default. */
export type CheckSettings = Pick<RunSettings, RequiredSetting> & {
  [Name in keyof OptionalSettings]?: OptionalSettings[Name] | undefined;
} & Pick<CheckOptions, 'strict'> & {
    /** The requirements to judge, from `selectRequirements` (default: all of the areas). */
    selected?: readonly RequirementId[] | undefined;
    /** The requirement set of a release; other requirements are notes (default: all count). */
    requirementSet?: RequirementSet | undefined;
  };

/** A finished check: the transcript, and the report made from it. */
export interface CheckResult {
  transcript: Transcript;
  report: CheckReport;
}

/** Checks a peer. Rejects only if the kit itself fails; everything that the peer does is in the report. */
export async function check(options: CheckSettings): Promise<CheckResult> {
  const settings = settingsOf(options, { preflightOnly: false });
  const suite = suiteOf(settings);
  const transcript = await runProbes(suite, settings);
  const { strict = false, requirementSet } = options;
  const endedAt = isoTime(settings.clock.nowMs());
  return {
    transcript,
    report: createReport(suite, transcript, endedAt, { strict, requirementSet }),
  };
}

/** Places one call with speech and judges only that call. */
export async function checkOneCall(options: CheckSettings): Promise<CheckResult> {
  const settings = settingsOf({ ...options, areas: ['voice'] }, { preflightOnly: false });
  const suite = suiteOf(settings);
  const transcript = await runProbes(suite, { ...settings, probes: [conversation] });
  return { transcript, report: createReport(suite, transcript, isoTime(settings.clock.nowMs())) };
}

/**
 * Runs only the preflight and returns whether the peer can be checked. With `needsVoice`, its voice
 * WebSocket must open as well.
 */
export async function diagnose(
  options: CheckSettings & { needsVoice?: boolean },
): Promise<Diagnosis> {
  const { needsVoice = false } = options;
  const settings = settingsOf(options, { preflightOnly: true });
  const suite = suiteOf(settings);
  const transcript = await runProbes(suite, settings);
  const closed = findClosedVoice(transcript, needsVoice);
  const blockedBy = findBlockingCause(suite, transcript) ?? (needsVoice ? closed : undefined);
  const { run, exchanges } = transcript;
  return { peer: suite.peer, target: run.target, blockedBy, remark: closed?.message, exchanges };
}

/** Judges a transcript, and returns the report that every other view is made from. */
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
export type PlanOptions = Pick<CheckSettings, 'areas' | 'selected' | 'prompts' | 'intrusive'>;

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

function settingsOf(
  options: CheckSettings,
  { preflightOnly }: Pick<RunSettings, 'preflightOnly'>,
): RunSettings {
  return {
    areas,
    prompts: defaultPrompts,
    clock: systemClock,
    onExchange: () => {},
    ...withDefaults(checkOptions, options),
    // A recording names the header of the key only if it was chosen.
    apiKeyHeader: options.apiKeyHeader,
    preflightOnly,
  };
}
