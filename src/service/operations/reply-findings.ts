import type { ChatRequest } from '../../contract/index.ts';
import type { KitFunctions } from './kit-functions.ts';
import type { PlaygroundTurn } from './playground.ts';

/** The most findings of a reply that are kept. */
const FINDINGS_MAX = 10;

/** What a reply breaks. */
export interface ReplyFinding {
  /** The requirement, such as CHAT-024. */
  id: string;
  rule: string;
  /** JSON pointer into the response; empty if the finding concerns all of it. */
  pointer: string;
  expected: string;
  received: string;
}

/** Adds to a turn which requirements its response breaks. */
export async function judgeReply<Turn extends Omit<PlaygroundTurn, 'userInput'>>(
  kit: Pick<KitFunctions, 'judgeReply'> | undefined,
  request: ChatRequest,
  turn: Turn,
): Promise<Turn> {
  const { response, status, latencyMs = 0 } = turn;
  if (!kit || response === undefined || status === undefined) return turn;
  const findings = await kit.judgeReply(request, { status, json: response, latencyMs });
  return findings.length === 0 ? turn : { ...turn, findings: findings.slice(0, FINDINGS_MAX) };
}
