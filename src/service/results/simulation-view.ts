import type { SimulationSession } from '../../contract/index.ts';
import { type SessionTurn, makeDeepLink } from '../domain/sessions.ts';
import type { Session } from '../store/store.ts';
import { toSessionView } from './session-view.ts';

/** How a session is shown. */
export interface ViewOptions {
  appUrl: string;
  failedOnly: boolean;
  /** Its turns, where they are asked for; the key is absent otherwise. */
  turns: readonly SessionTurn[] | undefined;
}

/** A simulation session on the wire (spec 2.4). */
export function toSimulationView(session: Session, options: ViewOptions): SimulationSession {
  const { simulation, agent } = session;
  const { appUrl, failedOnly, turns } = options;
  return {
    url: makeDeepLink(session, appUrl),
    simulation: simulation?.name ?? '',
    agent: agent?.name ?? '',
    scenario: session.scenario ?? '',
    persona: session.persona ?? '',
    ...toSessionView(session, failedOnly),
    ...(turns && {
      traces: turns.map((turn) => ({
        session_sequence: turn.sequence,
        user_input: turn.userInput,
        user_reason: turn.userReason ?? '',
        agent_response: turn.agentResponse,
      })),
    }),
  };
}
