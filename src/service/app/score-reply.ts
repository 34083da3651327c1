import type { ResentEval, SimulatedSessionReport } from '../../contract/index.ts';
import { limitSignal } from '../../platform/abort.ts';
import { systemClock } from '../../platform/clock.ts';
import type { ScoredSession } from '../sessions/scored-session.ts';
import { scoreNewReply, type ReplyScore } from '../scoring/reply-decides.ts';
import { SCORING_MS_MAX } from '../scoring/score.ts';
import { COMMAND_CURES } from '../simulator/sandbox/cures.ts';
import { readReply } from '../simulator/sandbox/read-reply.ts';
import type { SandboxResponse } from '../simulator/sandbox/sandbox-http.ts';
import type { AgentReply } from '../simulator/agent-reply.ts';
import { SessionError } from '../simulator/session-error.ts';

/** A turn of a simulated session that was sent again, and the new response. */
export interface ResentTurn {
  session: SimulatedSessionReport;
  /** Number of the turn. */
  turn: number;
  response: Omit<SandboxResponse, 'retryAfter'>;
}

const OTHER_SESSION =
  'It depends on the session of another user before this one, which is not sent again.';
const NO_DEFINITION = 'The report does not contain the eval. Run the simulation again.';

/**
 * Scores the evals of a session that did not pass, with the new reply to a turn. `required` evals that
 * fail have the verdict `fail`, and others `warn`.
 */
export async function scoreReply(
  { session, turn, response }: ResentTurn,
  signal: AbortSignal,
): Promise<ResentEval[]> {
  const { eval_outcomes: outcomes, errored_evals: errored, resendable } = session;
  const definitions = resendable?.evals ?? [];
  const reply = readResponse(response);
  const score = async (id: string): Promise<ReplyScore> => {
    const definition = definitions.find((each) => each.id === id);
    if (!definition) return { outcome: 'not_judged', reasoning: NO_DEFINITION };
    if (session.other_session) return { outcome: 'not_judged', reasoning: OTHER_SESSION };
    if (typeof reply === 'string') return { outcome: 'not_judged', reasoning: reply };
    using limit = limitSignal(systemClock, SCORING_MS_MAX, signal);
    const scored = toScoredSession(session);
    const [before] = scored.turns.filter(({ sequence }) => sequence === turn);
    const { content: agentResponse, toolCalls, latencyMs, evaluationMetadata } = reply;
    const now = { agentResponse, toolCalls, latencyMs, evaluationMetadata, failed: false };
    const said = before ?? { sequence: turn, userInput: '' };
    const replaced = { session: scored, turn: { ...said, ...now } };
    return await scoreNewReply(definition, replaced, limit.signal);
  };
  const failed = [
    ...outcomes.filter(({ outcome }) => outcome === 'fail'),
    ...errored.map((each) => ({ ...each, required: undefined })),
  ];
  return Promise.all(
    failed.map(async ({ eval: evalId, eval_name: name, required }) => {
      const id = String(evalId);
      const isRequired =
        required !== false && definitions.find((each) => each.id === id)?.required !== false;
      return toRow({ id, name, isRequired }, await score(id));
    }),
  );
}

function toRow(
  { id, name, isRequired }: { id: string; name: string; isRequired: boolean },
  score: ReplyScore,
): ResentEval {
  const row = { id, name, required: isRequired };
  if (score.outcome === 'elsewhere') {
    const { turn } = score;
    const place = turn === undefined ? 'this turn does not fail it' : `turn ${turn} failed it`;
    const reason = `In the run, ${place}.`;
    return { ...row, verdict: 'elsewhere', reason, ...(turn !== undefined && { turn }) };
  }
  const { outcome, reasoning: reason } = score;
  return { ...row, verdict: outcome === 'fail' && !isRequired ? 'warn' : outcome, reason };
}

/** Returns the reply of a response, or why there is none. */
function readResponse(response: ResentTurn['response']): AgentReply | string {
  try {
    // The request was judged before, so its key was accepted.
    return readReply(
      { ...response, retryAfter: undefined },
      { hasKey: true, cures: COMMAND_CURES },
    );
  } catch (error) {
    if (!(error instanceof SessionError)) throw error;
    return `There is no reply to score: ${error.message}`;
  }
}

function toScoredSession({
  id,
  scenario,
  persona,
  traces,
  turn_latency_ms: latencies,
  turn_taking: turnTaking,
  heard,
}: SimulatedSessionReport): ScoredSession {
  return {
    sessionId: id,
    scenario,
    persona,
    ...(turnTaking && { turnTaking }),
    ...(heard && { heard }),
    turns: traces.map((trace, index) => ({
      sequence: trace.session_sequence,
      userInput: trace.user_input,
      agentResponse: trace.agent_response,
      ...(trace.scenario_line !== undefined && { scenarioLine: trace.scenario_line }),
      toolCalls: (trace.tool_calls ?? []).map(
        ({ name, arguments: input = null, result = null }) => ({
          name,
          arguments: input,
          result,
        }),
      ),
      ...(latencies[index] !== undefined && { latencyMs: latencies[index] }),
    })),
  };
}
