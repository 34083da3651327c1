import type { EvalDefinition, OutcomeEvidence } from '../../contract/index.ts';
import { endOnce } from '../../platform/sandbox-kit-error.ts';
import type { Outcome } from '../store/store.ts';
import type { Params } from './params.ts';
import { EVIDENCE_MAX } from '../evals/cited-evidence.ts';
import { versionOf } from '../evals/eval-version.ts';
import type { ScoredSession } from '../sessions/scored-session.ts';

/** Time limit of one scoring: longer than the limits of the judge and of a pattern. */
export const SCORING_MS_MAX = 120_000;

/** The score of one eval for one session. An `error` is neither a pass nor a fail. */
export interface Score {
  outcome: 'pass' | 'fail' | 'error';
  /** What the eval looked for and found. May quote the conversation unless the outcome is an error. */
  reasoning: string;
  /** The places in the transcript that decide the outcome; empty when no particular place decides it. */
  evidence?: readonly OutcomeEvidence[];
}

/** A session for the LLM judge. */
export interface JudgeRequest {
  /** What a passing session does, as a positive statement. */
  criteria: string;
  session: ScoredSession;
  /** Replaces the judge's default model. */
  model: string | undefined;
}

/** An LLM judge: a language model that decides whether a session meets a criterion. */
export interface Judge {
  /** Rejects only for bugs. If there is no clear answer, the outcome is `error`. */
  score(subject: JudgeRequest, signal: AbortSignal): Promise<Score>;
}

/** The input of a scorer. */
export interface ScorerInput {
  params: Params;
  session: ScoredSession;
  judge: Judge | undefined;
  signal: AbortSignal;
}

/** Scores one kind of eval. Throws `UnreadableParams`, the signal's reason, or a bug. */
export type Scorer = (input: ScorerInput) => Score | Promise<Score>;

/** Creates a passing or failing score. */
export function createScore(
  passes: boolean,
  reasoning: string,
  evidence: readonly OutcomeEvidence[] = [],
): Score {
  return {
    outcome: passes ? 'pass' : 'fail',
    reasoning: endOnce(reasoning),
    evidence: evidence.slice(0, EVIDENCE_MAX),
  };
}

/** Creates the score of an eval that can't be scored. Logs show the reason, so it quotes no conversation. */
export function createErrorScore(reasoning: string): Score {
  return { outcome: 'error', reasoning: endOnce(reasoning) };
}

/** Combines a score with the eval as it was when it was queued. */
export function toOutcome(
  definition: EvalDefinition,
  { outcome, reasoning, evidence }: Score,
): Outcome {
  return {
    evalId: definition.id,
    evalName: definition.name,
    evalVersion: versionOf(definition),
    category: definition.category ?? 'general',
    type: definition.type ?? 'session_level',
    outcome,
    required: definition.required ?? true,
    reasoning,
    ...(evidence && { evidence }),
  };
}
