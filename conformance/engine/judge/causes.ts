import type { Cause } from '../../../src/contract/index.ts';
import type { Suite } from '../area.ts';
import type { Repair } from '../checks/check.ts';
import type { RequirementId } from '../requirement.ts';
import { toExchange, type Transcript } from '../transcript/transcript.ts';
import { judgeTranscript, type Judgment, type JudgeOptions } from './judge.ts';

/** The recording is judged once per candidate, so more would take too long. */
const CANDIDATES_MAX = 20;
const CAUSES_MAX = 5;
/** The candidates to try again after a cause was found: those that cleared most before. */
const RETRIES_MAX = 5;

/** A repair, tried on the recording. */
interface Trial {
  repair: Repair;
  transcript: Transcript;
  judgment: Judgment;
  clears: RequirementId[];
}

/**
 * Groups failures by the change that clears them. Each change is applied to the recorded responses, and
 * the recording is judged again, so a cause lists only failures that it really clears. The change that
 * clears most comes first; the next ones are tried on the changed recording, so that they list only
 * what they clear in addition.
 */
export function findCauses(
  suite: Suite,
  transcript: Transcript,
  judgment: Judgment,
  options: JudgeOptions = {},
): Cause[] {
  const causes: Cause[] = [];
  let current = { transcript, judgment };
  let candidates = collectRepairs(suite, judgment);
  while (causes.length < CAUSES_MAX) {
    const failures = failuresOf(current.judgment);
    const [best, ...others] = candidates
      .map((repair) => tryRepair(suite, repair, current.transcript, failures, options))
      .filter(({ clears }) => clears.length > 0)
      .sort((a, b) => b.clears.length - a.clears.length);
    if (!best) break;
    causes.push({ description: best.repair.description, clears: best.clears, verified: true });
    current = best;
    candidates = others.slice(0, RETRIES_MAX).map(({ repair }) => repair);
  }
  return causes;
}

function tryRepair(
  suite: Suite,
  repair: Repair,
  before: Transcript,
  failures: readonly RequirementId[],
  options: JudgeOptions,
): Trial {
  const transcript = applyRepair(before, repair);
  const judgment = judgeTranscript(suite, transcript, options);
  const after = new Set(failuresOf(judgment));
  return { repair, transcript, judgment, clears: failures.filter((id) => !after.has(id)) };
}

function failuresOf({ requirements }: Judgment): RequirementId[] {
  return [...requirements]
    .filter(([, { verdict }]) => verdict === 'fail' || verdict === 'blocked')
    .map(([id]) => id);
}

/** Returns the repairs that findings propose, then those of the suite, without duplicates. */
function collectRepairs(suite: Suite, { requirements, blockedBy }: Judgment): Repair[] {
  const byDescription = new Map<string, Repair>();
  for (const judged of requirements.values()) {
    if (judged.verdict !== 'fail') continue;
    for (const { repair } of judged.findings)
      if (repair) byDescription.set(repair.description, repair);
  }
  // No change to single responses helps if the peer as a whole can't be judged.
  const common = blockedBy ? [] : suite.repairs;
  return [...[...byDescription.values()].slice(0, CANDIDATES_MAX - common.length), ...common];
}

function applyRepair({ run, exchanges }: Transcript, repair: Repair): Transcript {
  return {
    run,
    exchanges: exchanges.map((exchange) => {
      const changed = repair.apply(exchange);
      if (!changed) return exchange;
      const { json, sent, failure, ...record } = exchange;
      // A response replaces the failure to respond.
      const kept = failure && !changed.response ? { failure } : {};
      return toExchange({ ...record, ...kept, ...changed });
    }),
  };
}
