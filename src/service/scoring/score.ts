import type { Params } from './params.ts';
import type { ScoredSession } from './scored-session.ts';

/** What an eval found of a session. An error is neither pass nor fail: nothing was found out. */
export interface Score {
  outcome: 'pass' | 'fail' | 'error';
  /** What was looked for and what was found; may quote the conversation, unless it is an error. */
  reasoning: string;
}

/** What is put before the judge. */
export interface Case {
  /** What a passing session does, as a positive sentence. */
  criteria: string;
  session: ScoredSession;
  /** Another model than the judge's own. */
  model: string | undefined;
}

/** A language model that reads a session and says whether it meets a requirement. */
export interface Judge {
  /** Never rejects but for a bug: no answer, or one that is not clear, is an `error`. */
  score(judged: Case, signal: AbortSignal): Promise<Score>;
}

/** What a scorer gets. */
export interface Scoring {
  params: Params;
  session: ScoredSession;
  judge: Judge | undefined;
  signal: AbortSignal;
}

/** Scores one kind of eval. Throws `UnreadableParams`, the signal's reason, or a bug. */
export type Scorer = (scoring: Scoring) => Score | Promise<Score>;

/** A pass or a fail. */
export function verdict(passes: boolean, reasoning: string): Score {
  return { outcome: passes ? 'pass' : 'fail', reasoning };
}

/** Nothing could be found out, and why; logs show the reason, so it never quotes the conversation. */
export function unscored(reasoning: string): Score {
  return { outcome: 'error', reasoning };
}
