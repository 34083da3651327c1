/** Pages as they would be if each session had one turn per chat span. */
import type { Exchange, Transcript } from '../../../engine/transcript/reading.ts';
import { replaceKeys, type Response } from '../../diagnoses/conforming-response.ts';
import type { ResultsObject } from '../results-api.ts';
import { compareTurns } from '../results/turn-differences.ts';
import { messageTexts, sentChatSpans, sentStartOf, sessionsOf } from '../transcript.ts';

/** Conversations of other probes may lack turns, because their spans arrive late. */
const probes = ['service/conversations', 'service/backlog'];

/** The conversation with a wrapper span may have another number of turns. */
const WRAPPED_STEP = 'wrapper';

/** Returns a page of production results whose sessions have the turns and the start that the run sent. */
export function restorePage(page: Exchange, transcript: Transcript): Response {
  const items = sessionsOf(page).map((session) => restoreSession(session, transcript));
  return replaceKeys(page, { items });
}

function restoreSession(session: ResultsObject, transcript: Transcript): ResultsObject {
  const { source_session_id: id, traces } = session;
  if (typeof id !== 'string') return session;
  const { sent, missing, repeated } = compareTurns(session, id, transcript);
  const carrier = sent[0]?.arrivals[0]?.exchange;
  if (!carrier || !probes.includes(carrier.probe) || carrier.step === WRAPPED_STEP) return session;
  const restored = { ...session, started_at: sentStartOf(id, transcript) };
  if (!Array.isArray(traces) || missing.length + repeated.length === 0) return restored;
  return { ...restored, traces: createTurns(id, transcript) };
}

/** Returns the turns of the chat spans that the run sent for a conversation. */
export const createTurns = (id: string, transcript: Transcript): ResultsObject[] =>
  sentChatSpans(id, transcript).map((span, index) => ({
    session_sequence: index + 1,
    user_input: messageTexts(span, 'gen_ai.input.messages').join('\n'),
    agent_response: messageTexts(span, 'gen_ai.output.messages').join('\n'),
  }));
