import type { Suite } from '../area.ts';
import type { Repair } from '../checks/check.ts';
import { areaOf, type RequirementId } from '../requirement.ts';
import { toExchange, type Exchange, type Transcript } from '../transcript/transcript.ts';
import { chooseExample, type CauseExample } from './cause-example.ts';
import {
  judgeRequirements,
  type Judgment,
  type JudgeOptions,
  type RequirementResult,
} from './judge.ts';

/** Bounds the time that a recording with many different faults takes. */
const CANDIDATES_MAX = 20;
const CAUSES_MAX = 5;

/** A change that clears failures. */
export interface FoundCause {
  /** The route, the fault, and what to do, without the last full stop. */
  description: string;
  clears: RequirementId[];
  /** The change was tried on the recording. */
  verified: true;
  example?: CauseExample;
}

type Results = ReadonlyMap<RequirementId, RequirementResult>;

/** A recording and its failed or blocked requirements, after the repairs that were chosen so far. */
interface State {
  transcript: Transcript;
  failures: Results;
}

/** A candidate repair. Remembers what it makes of an exchange. */
interface Candidate {
  description: string;
  repairExchange: (exchange: Exchange) => Exchange;
}

/** What a candidate clears. */
interface Trial {
  candidate: Candidate;
  transcript: Transcript;
  clears: RequirementId[];
}

/**
 * Groups failures by the change that clears them. Each change is applied to the recorded responses, and
 * what failed is judged again, so a cause lists only failures that it really clears. The change that
 * clears most comes first; the next ones are tried on the changed recording, so that they list only
 * what they clear in addition. What a diagnosis explains gets no other cause.
 */
export function findCauses(
  suite: Suite,
  transcript: Transcript,
  judgment: Judgment,
  options: JudgeOptions = {},
): FoundCause[] {
  const causes: FoundCause[] = [];
  let state: State = { transcript, failures: failuresOf(judgment) };
  if (state.failures.size === 0) return causes;
  // No change to single responses helps if the peer as a whole can't be judged.
  const isBlocked = judgment.blockedBy !== undefined;
  let diagnoses = (isBlocked ? [] : suite.diagnose(transcript)).map(createCandidate);
  let others = [
    ...collectRepairs(state.failures),
    ...(isBlocked ? [] : suite.repairs(transcript)),
  ].map(createCandidate);
  while (causes.length < CAUSES_MAX && state.failures.size > 0) {
    const candidates = [...diagnoses, ...others.map((other) => exclude(other, diagnoses))];
    const best = findBest(suite, state, candidates, options);
    if (!best && diagnoses.length === 0) break;
    if (!best) {
      diagnoses = [];
      continue;
    }
    const { description } = best.candidate;
    const example = chooseExample(state.failures, best.clears);
    causes.push({ description, clears: best.clears, verified: true, ...(example && { example }) });
    state = applyBest(suite, state, best, options);
    diagnoses = diagnoses.filter((candidate) => candidate.description !== description);
    others = others.filter((candidate) => candidate.description !== description);
  }
  return causes;
}

/** Limits a candidate to exchanges that no diagnosis explains, because a diagnosis says more. */
function exclude(candidate: Candidate, diagnoses: readonly Candidate[]): Candidate {
  const isExplained = (exchange: Exchange): boolean =>
    diagnoses.some(({ repairExchange }) => repairExchange(exchange) !== exchange);
  return {
    description: candidate.description,
    repairExchange: (exchange) =>
      isExplained(exchange) ? exchange : candidate.repairExchange(exchange),
  };
}

/** Returns what failed or is blocked; without what the blocking cause of the run blocks. */
function failuresOf({ requirements, blockedBy }: Judgment): Results {
  return new Map(
    [...requirements].filter(
      ([, result]) => isFailure(result) && !(blockedBy && result.verdict === 'blocked'),
    ),
  );
}

const isFailure = (result: RequirementResult | undefined): boolean =>
  result?.verdict === 'fail' || result?.verdict === 'blocked';

/** Returns the repairs that findings propose, without duplicates. */
function collectRepairs(failures: Results): Repair[] {
  const byDescription = new Map<string, Repair>();
  for (const judged of failures.values()) {
    if (judged.verdict !== 'fail') continue;
    for (const { repair } of judged.findings)
      if (repair) byDescription.set(repair.description, repair);
  }
  return [...byDescription.values()].slice(0, CANDIDATES_MAX);
}

function createCandidate(repair: Repair): Candidate {
  const repaired = new WeakMap<Exchange, Exchange>();
  return {
    description: repair.description,
    repairExchange(exchange) {
      const known = repaired.get(exchange);
      if (known) return known;
      const result = repairExchange(exchange, repair);
      repaired.set(exchange, result);
      return result;
    },
  };
}

function repairExchange(exchange: Exchange, repair: Repair): Exchange {
  const changed = repair.apply(exchange);
  if (!changed) return exchange;
  const { json, sent, failure, ...record } = exchange;
  // A response replaces the failure to respond.
  const kept = failure && !changed.response ? { failure } : {};
  return toExchange({ ...record, ...kept, ...changed });
}

/** Returns the candidate that clears most; of several, the first. */
function findBest(
  suite: Suite,
  state: State,
  candidates: readonly Candidate[],
  options: JudgeOptions,
): Trial | undefined {
  // Those that can clear most come first, so that most of the others need not be tried.
  const promising = candidates
    .map((candidate, index) => ({ candidate, index, ...findClearable(suite, state, candidate) }))
    .filter(({ ids }) => ids.length > 0)
    .sort((a, b) => b.ids.length - a.ids.length);
  let best: (Trial & { index: number }) | undefined;
  for (const { candidate, index, transcript, ids } of promising) {
    const clearsMin = best ? best.clears.length + (index > best.index ? 1 : 0) : 1;
    if (ids.length < clearsMin) continue;
    const judged = judgeRequirements(suite, transcript, ids, options);
    const clears = ids.filter((id) => !isFailure(judged.get(id)));
    if (clears.length >= clearsMin) best = { candidate, index, transcript, clears };
  }
  return best;
}

/** Applies a candidate, and returns the failures that it may clear; they have to be judged again. */
function findClearable(
  suite: Suite,
  { transcript, failures }: State,
  candidate: Candidate,
): { transcript: Transcript; ids: RequirementId[] } {
  const exchanges = transcript.exchanges.map(candidate.repairExchange);
  const changed = exchanges.filter((exchange, index) => exchange !== transcript.exchanges[index]);
  const changedIds = new Set(changed.map(({ id }) => id));
  const changedAreas = suite.areas
    .filter(({ endpoints }) => changed.some(({ endpoint }) => endpoints.includes(endpoint)))
    .map(({ name }) => name);
  const ids = [...failures].filter(([id, result]) =>
    result.verdict === 'fail'
      ? // A failure clears only if every exchange with a finding changes.
        result.findings.every(({ exchange }) => changedIds.has(exchange))
      : changedAreas.includes(areaOf(id)),
  );
  return { transcript: { run: transcript.run, exchanges }, ids: ids.map(([id]) => id) };
}

/** Judges the remaining failures again, because the repair may have cleared a part of their findings. */
function applyBest(
  suite: Suite,
  { failures }: State,
  { transcript, clears }: Trial,
  options: JudgeOptions,
): State {
  const remaining = [...failures.keys()].filter((id) => !clears.includes(id));
  return { transcript, failures: judgeRequirements(suite, transcript, remaining, options) };
}
