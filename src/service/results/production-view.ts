import type { ProductionSession } from '../../contract/index.ts';
import { makeDeepLink } from '../domain/sessions.ts';
import type { Session } from '../store/store.ts';
import { toSessionView } from './session-view.ts';
import type { ViewOptions } from './simulation-view.ts';

/** A production session on the wire (spec 2.5): without agent, scenario or persona. */
export function toProductionView(session: Session, options: ViewOptions): ProductionSession {
  const { appUrl, failedOnly, turns } = options;
  return {
    url: makeDeepLink({ ...session, kind: 'production' }, appUrl),
    run: session.run?.name ?? '',
    source_session_id: session.sourceSessionId ?? '',
    ...toSessionView(session, failedOnly),
    ...(turns && {
      traces: turns.map((turn) => ({
        session_sequence: turn.sequence,
        user_input: turn.userInput,
        agent_response: turn.agentResponse,
      })),
    }),
  };
}
