import { errorMessage } from '../../../src/platform/error-origin.ts';
import type { Area, Verdict } from '../../../src/contract/index.ts';
import { checks as allChecks, type Check, type Finding } from '../../areas/checks.ts';
import { areaOf, idsOfRun, requirement, type RequirementId } from '../../areas/index.ts';
import type { Exchange, Transcript } from '../transcript/transcript.ts';
import { findBlockingCause, type BlockingCause } from '../preflight/preflight.ts';

/** Exchanges that a verdict rests on: at least one. */
export type Evidence = readonly [Exchange, ...Exchange[]];

/** What was found of one requirement. */
export type RequirementResult =
  | { verdict: 'pass'; evidence: Evidence }
  | { verdict: 'fail' | 'warn' | 'note'; evidence: Evidence; findings: [Finding, ...Finding[]] }
  | { verdict: 'not_applicable' | 'not_observed' | 'not_selected' | 'blocked'; reason: string }
  | { verdict: 'error'; reason: string };

/** The judgement of a run. */
export interface Judgment {
  verdict: 'conforming' | 'not-conforming' | 'not-judged';
  /** 0, 1, 3 or 70. */
  exitCode: number;
  /** The one cause for which nothing could be judged, or nothing more. */
  blockedBy: BlockingCause | undefined;
  requirements: ReadonlyMap<RequirementId, RequirementResult>;
  counts: Readonly<Record<Verdict, number>>;
}

/** How strict to be: `strict` makes every warn a fail. */
export interface JudgeOptions {
  strict?: boolean;
  /** The checks to judge by; those of the ledger when left out. */
  checks?: Readonly<Record<RequirementId, Check>>;
}

/**
 * Judges a transcript: pure, so that the same recording always gets the same judgement of the same
 * kit. A check that throws gives `error`, and the run goes on.
 */
export function judgeTranscript(transcript: Transcript, options: JudgeOptions = {}): Judgment {
  const blockedBy = findBlockingCause(transcript);
  const requirements = new Map(
    idsOfRun(transcript.run).map(
      (id) => [id, judgeOne(id, transcript, blockedBy, options)] as const,
    ),
  );
  const counts = countVerdicts(requirements);
  return { ...whole(requirements, counts, blockedBy), blockedBy, requirements, counts };
}

function judgeOne(
  id: RequirementId,
  transcript: Transcript,
  blockedBy: BlockingCause | undefined,
  { strict = false, checks = allChecks }: JudgeOptions,
): RequirementResult {
  if (!transcript.run.areas.includes(areaOf(id))) {
    return { verdict: 'not_selected', reason: `The run was of ${namesOf(transcript.run.areas)}.` };
  }
  if (!blockedBy) return judgeBy(checks[id], id, transcript, strict);
  const before = blockedBy.before && judgeBy(checks[id], id, blockedBy.before, strict);
  const isFound = before?.verdict === 'fail' || before?.verdict === 'warn';
  return isFound ? before : { verdict: 'blocked', reason: blockedBy.message };
}

function judgeBy(
  check: Check,
  id: RequirementId,
  transcript: Transcript,
  strict: boolean,
): RequirementResult {
  try {
    const [first, ...more] = check.evidence(transcript);
    if (!first) return check.unjudged(transcript);
    const evidence: Evidence = [first, ...more];
    const [finding, ...others] = check.judge([...evidence], transcript);
    if (!finding) return { verdict: 'pass', evidence };
    const findings = [finding, ...others] as const;
    const isNote = findings.every((one) => one.isNote);
    return { verdict: isNote ? 'note' : broken(id, strict), evidence, findings: [...findings] };
  } catch (error) {
    return { verdict: 'error', reason: errorMessage(error) };
  }
}

const namesOf = (areas: readonly Area[]): string => areas.join(', ');

/** What a finding means at each level. */
function broken(id: RequirementId, strict: boolean): 'fail' | 'warn' | 'note' {
  switch (requirement(id).level) {
    case 'must':
    case 'extension':
      return 'fail';
    case 'should':
    case 'target':
      return strict ? 'fail' : 'warn';
    case 'may':
      return 'note';
  }
}

function countVerdicts(
  requirements: ReadonlyMap<RequirementId, RequirementResult>,
): Judgment['counts'] {
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
  for (const { verdict } of requirements.values()) counts[verdict]++;
  return counts;
}

/** The verdict of the whole and its exit code. A run that passed nothing never exits 0. */
function whole(
  requirements: ReadonlyMap<RequirementId, RequirementResult>,
  counts: Judgment['counts'],
  blockedBy: BlockingCause | undefined,
): Pick<Judgment, 'verdict' | 'exitCode'> {
  if (counts.fail > 0) return { verdict: 'not-conforming', exitCode: 1 };
  if (counts.error > 0) return { verdict: 'not-judged', exitCode: 70 };
  const mustBlocked = [...requirements].some(
    ([id, { verdict }]) => verdict === 'blocked' && requirement(id).level === 'must',
  );
  if (blockedBy || mustBlocked || counts.pass === 0) return { verdict: 'not-judged', exitCode: 3 };
  return { verdict: 'conforming', exitCode: 0 };
}
