import type { ProductionSession } from '../../contract/index.ts';
import { deepLink } from '../domain/deep-link.ts';
import type { Session } from '../store/store.ts';
import { sessionView } from './session-view.ts';
import type { ViewOptions } from './simulation-view.ts';

/** A production session on the wire (spec 2.5): without agent, scenario or persona. */
export function productionView(session: Session, options: ViewOptions): ProductionSession {
  const { appUrl, failedOnly, turns } = options;
  return {
    url: deepLink({ ...session, kind: 'production' }, appUrl),
    run: session.run?.name ?? '',
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
