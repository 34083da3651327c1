import type { SimulationSession } from '../../contract/index.ts';
import { deepLink } from '../domain/deep-link.ts';
import type { SessionTurn } from '../domain/session-turns.ts';
import type { Session } from '../store/store.ts';
import { sessionView } from './session-view.ts';

/** How a session is shown. */
export interface ViewOptions {
  appUrl: string;
  failedOnly: boolean;
  /** Its turns, where they are asked for; the key is absent otherwise. */
  turns: readonly SessionTurn[] | undefined;
}

/** A simulation session on the wire (spec 2.4). */
export function simulationView(session: Session, options: ViewOptions): SimulationSession {
  const { simulation, agent } = session;
  const { appUrl, failedOnly, turns } = options;
  return {
    url: deepLink(session, appUrl),
    simulation: simulation?.name ?? '',
    agent: agent?.name ?? '',
    scenario: session.scenario ?? '',
    persona: session.persona ?? '',
    ...sessionView(session, failedOnly),
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
