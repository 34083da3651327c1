import type { Level, RunRecord, Verdict } from '../../../src/contract/index.ts';
import { errorMessage } from '../../../src/platform/error-origin.ts';
import { requirementOf, type Suite } from '../area.ts';
import type { Check, Finding, Unjudged } from '../checks/check.ts';
import type { BlockingCause } from '../preflight/blocking-cause.ts';
import { findBlockingCause } from '../preflight/preflight.ts';
import { areaOf, type RequirementId, type RequirementSet } from '../requirement.ts';
import { removeCollateral } from '../transcript/crashes.ts';
import type { Exchange, Transcript } from '../transcript/transcript.ts';
import { createFindingSort, type FindingSort } from './example-order.ts';
import { explainFailure } from './failure-hints.ts';

/** The exchanges that a verdict is based on; at least one. */
export type Evidence = readonly [Exchange, ...Exchange[]];

/** The verdict on one requirement. */
export type RequirementResult =
  | { verdict: 'pass'; evidence: Evidence }
  | { verdict: 'fail' | 'warn' | 'note'; evidence: Evidence; findings: [Finding, ...Finding[]] }
  | Unjudged
  | { verdict: 'error'; reason: string };

/** The verdict on a run as a whole. */
export interface RunJudgment {
  verdict: 'conforming' | 'not-conforming' | 'not-judged';
  exitCode: 0 | 1 | 3 | 70;
}

/** The judgment of a run. */
export interface Judgment extends RunJudgment {
  /** The cause that kept the run, or the rest of it, from being judged. */
  blockedBy: BlockingCause | undefined;
  requirements: ReadonlyMap<RequirementId, RequirementResult>;
  counts: Readonly<Record<Verdict, number>>;
}

/** How to judge a transcript. */
export interface JudgeOptions {
  /** Turns every warn into a fail. */
  strict?: boolean;
  /** Judges other requirements as notes that don't count (default: all requirements count). */
  requirementSet?: RequirementSet | undefined;
  /** Judges only these of the requirements that the run selected. */
  selected?: readonly RequirementId[] | undefined;
}

/** Returns whether a requirement was added after a set. */
export const isAddedLater = (id: string, { requirementSet }: JudgeOptions): boolean =>
  requirementSet !== undefined && !requirementSet.ids.has(id);

/**
 * Judges a transcript. The function is pure: the same version of the kit always judges a recording
 * in the same way. A check that throws yields the verdict `error`, and the other checks still run.
 */
export function judgeTranscript(
  suite: Suite,
  transcript: Transcript,
  options: JudgeOptions = {},
): Judgment {
  const blockedBy = findBlockingCause(suite, transcript);
  const judge = createRequirementJudge(suite, transcript, blockedBy, options);
  const requirements = new Map(suite.requirementIds.map((id) => [id, judge(id)] as const));
  const rows = [...requirements].map(([id, { verdict }]) => ({
    verdict,
    level: requirementOf(suite, id).level,
    ...(isAddedLater(id, options) && { addedLater: true as const }),
  }));
  return {
    ...judgeRun(rows, blockedBy !== undefined),
    blockedBy,
    requirements,
    counts: countVerdicts(rows),
  };
}

/** Judges some of the requirements, in the same way as `judgeTranscript`. */
export function judgeRequirements(
  suite: Suite,
  transcript: Transcript,
  ids: readonly RequirementId[],
  options: JudgeOptions,
): Map<RequirementId, RequirementResult> {
  const blockedBy = findBlockingCause(suite, transcript);
  const judge = createRequirementJudge(suite, transcript, blockedBy, options);
  return new Map(ids.map((id) => [id, judge(id)] as const));
}

function createRequirementJudge(
  suite: Suite,
  transcript: Transcript,
  blockedBy: BlockingCause | undefined,
  options: JudgeOptions,
): (id: RequirementId) => RequirementResult {
  const { strict = false } = options;
  const { areas } = transcript.run;
  const selections = [transcript.run.selected, options.selected].filter((ids) => ids !== undefined);
  const sortFindings = createFindingSort(suite, transcript);
  const judged = removeCollateral(transcript);
  const before = blockedBy?.before && restrictTo(blockedBy.before, judged);
  const applyCheck = (id: RequirementId, to: Transcript): RequirementResult => {
    const check = suite.checks[id];
    if (!check) return { verdict: 'error', reason: `${id} has no check.` };
    const { level } = requirementOf(suite, id);
    const breach = isAddedLater(id, options) ? 'note' : breachVerdict(level, strict);
    return explainFailures(judgeByCheck(check, to, breach, sortFindings), transcript);
  };
  return (id) => {
    if (!areas.includes(areaOf(id))) {
      return { verdict: 'not_selected', reason: `The run checked only ${areas.join(', ')}.` };
    }
    if (!selections.every((ids) => ids.some((each) => each === id))) {
      return { verdict: 'not_selected', reason: 'The requirement was not selected.' };
    }
    if (!blockedBy) return applyCheck(id, judged);
    const blocked = { verdict: 'blocked', reason: blockedBy.message } as const;
    const result = before && applyCheck(id, before);
    if (!result) return blocked;
    // A breach from before the cause remains one. So does a result that the rest can't change.
    const isBreach = result.verdict === 'fail' || result.verdict === 'warn';
    const isFinal =
      blockedBy.id === 'interrupted'
        ? hasFinished(suite, transcript.run, id)
        : result.verdict === 'pass' && hasSameEvidence(suite.checks[id], judged, before);
    return isBreach || isFinal ? result : blocked;
  };
}

/** Returns whether an interruption let all probes finish that exercise a requirement. */
function hasFinished(
  { probes }: Suite,
  { unfinishedProbes }: RunRecord,
  id: RequirementId,
): boolean {
  const exercising = probes.filter(({ exercises }) => exercises.includes(id));
  const ofArea = probes.filter(({ area }) => area === areaOf(id));
  return (exercising.length > 0 ? exercising : ofArea).every(
    (probe) => !unfinishedProbes?.includes(probe.id),
  );
}

/** Returns the exchanges of a transcript that another one has, too. */
function restrictTo({ exchanges }: Transcript, judged: Transcript): Transcript {
  const kept = new Set(exchanges);
  return { ...judged, exchanges: judged.exchanges.filter((exchange) => kept.has(exchange)) };
}

/** Returns whether a check finds no evidence in a transcript that its first part does not have. */
function hasSameEvidence(
  check: Check | undefined,
  whole: Transcript,
  part: Transcript | undefined,
): boolean {
  const inPart = new Set(part?.exchanges);
  try {
    return check?.evidence(whole).every((exchange) => inPart.has(exchange)) ?? false;
  } catch {
    return false;
  }
}

/** Adds to findings about failed requests what happened when the request was sent again. */
function explainFailures(result: RequirementResult, transcript: Transcript): RequirementResult {
  if (!('findings' in result)) return result;
  const [first, ...others] = result.findings;
  const explain = (finding: Finding): Finding => explainFailure(finding, transcript);
  return { ...result, findings: [explain(first), ...others.map(explain)] };
}

function judgeByCheck(
  check: Check,
  transcript: Transcript,
  breach: 'fail' | 'warn' | 'note',
  sortFindings: FindingSort,
): RequirementResult {
  try {
    const [first, ...more] = check.evidence(transcript);
    if (!first) return check.unjudged(transcript);
    const evidence: Evidence = [first, ...more];
    const [finding, ...others] = sortFindings(check.judge([...evidence], transcript));
    if (!finding) return { verdict: 'pass', evidence };
    const findings: [Finding, ...Finding[]] = [finding, ...others];
    const isNote = findings.every((candidate) => candidate.isNote);
    return { verdict: isNote ? 'note' : breach, evidence, findings };
  } catch (error) {
    return { verdict: 'error', reason: errorMessage(error) };
  }
}

function breachVerdict(level: Level, strict: boolean): 'fail' | 'warn' | 'note' {
  switch (level) {
    case 'must':
      return 'fail';
    case 'should':
    case 'target':
      return strict ? 'fail' : 'warn';
    case 'may':
      return 'note';
  }
}

function countVerdicts(rows: readonly { verdict: Verdict }[]): Judgment['counts'] {
  const counts: Record<Verdict, number> = {
    pass: 0,
    fail: 0,
    warn: 0,
    note: 0,
    not_applicable: 0,
    not_observed: 0,
    not_selected: 0,
    blocked: 0,
    error: 0,
  };
  for (const { verdict } of rows) counts[verdict]++;
  return counts;
}

/**
 * Returns the verdict on a run and its exit code. A run where nothing passed never exits 0.
 * Requirements that were added after the requirement set don't count.
 */
export function judgeRun(
  all: readonly { verdict: Verdict; level: Level; addedLater?: true }[],
  isBlocked: boolean,
): RunJudgment {
  const rows = all.filter(({ addedLater }) => addedLater === undefined);
  const has = (verdict: Verdict): boolean => rows.some((row) => row.verdict === verdict);
  if (has('fail')) return { verdict: 'not-conforming', exitCode: 1 };
  if (has('error')) return { verdict: 'not-judged', exitCode: 70 };
  const isMustBlocked = rows.some(
    ({ verdict, level }) => verdict === 'blocked' && level === 'must',
  );
  if (isBlocked || isMustBlocked || !has('pass')) return { verdict: 'not-judged', exitCode: 3 };
  return { verdict: 'conforming', exitCode: 0 };
}
