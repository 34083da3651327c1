import type { ProductionSession } from '../../contract/index.ts';
import type { Session } from '../store/store.ts';
import { sessionView } from './session-view.ts';
import type { ViewOptions } from './simulation-view.ts';

/** A production session on the wire (spec 2.5): without agent, scenario or persona. */
export function productionView(session: Session, options: ViewOptions): ProductionSession {
  const { run } = session;
  const { appUrl, failedOnly, turns } = options;
  const evaluation = encodeURIComponent(run?.id ?? '');
  return {
    url: `${appUrl}/production-eval/${evaluation}?sessionId=${encodeURIComponent(session.id)}`,
    run: run?.name ?? '',
    source_session_id: session.sourceSessionId ?? '',
    ...sessionView(session, failedOnly),
    ...(turns && {
      traces: turns.map((turn) => ({
        session_sequence: turn.sequence,
        user_input: turn.userInput,
        agent_response: turn.agentResponse,
      })),
    }),
  };
}
