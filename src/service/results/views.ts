import type {
  EvalOutcome,
  OutcomeSummary,
  ProductionSession,
  SimulationSession,
} from '../../contract/index.ts';
import { isoTime } from '../../platform/clock.ts';
import { makeDeepLink } from '../sessions/deep-link.ts';
import type { SessionTurn } from '../turns/turn-types.ts';
import type { Outcome, Session } from '../store/store.ts';

/** How to represent a session. */
export interface ViewOptions {
  /** Base URL of deep links, without a trailing slash. */
  appUrl: string;
  failedOnly: boolean;
  /** Its turns if the client asked for them; otherwise the response has no `traces`. */
  turns: readonly SessionTurn[] | undefined;
}

/** Returns a simulation session as it is sent to clients (spec 2.4). */
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

/** Returns a production session as it is sent to clients (spec 2.5). */
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

/** The fields that both kinds of session have in common. */
interface SessionView {
  status: string;
  started_at: string;
  ended_at: string;
  outcome_summary: OutcomeSummary;
  eval_outcomes: EvalOutcome[];
}

/**
 * Returns the common fields. The summary always covers the whole session; `failedOnly` narrows only
 * the list of outcomes (spec 4.3 rule 2).
 */
function toSessionView(session: Session, failedOnly: boolean): SessionView {
  // An eval that errored has no result, so it does not count as an evaluation.
  const evaluations = session.outcomes.filter(({ outcome }) => outcome !== 'error');
  const listed = evaluations.filter(({ outcome }) => !failedOnly || outcome === 'fail');
  return {
    status: session.status,
    started_at: isoTime(session.startedAtMs),
    ended_at: isoTime(session.endedAtMs),
    outcome_summary: summarize(evaluations),
    eval_outcomes: listed.map(toOutcomeView),
  };
}

function summarize(evaluations: readonly Outcome[]): OutcomeSummary {
  const total = evaluations.length;
  const passed = evaluations.filter(({ outcome }) => outcome === 'pass').length;
  return {
    total_evaluations: total,
    passed_count: passed,
    failed_count: total - passed,
    pass_rate: total === 0 ? 0 : passed / total,
  };
}

function toOutcomeView(outcome: Outcome): EvalOutcome {
  return {
    eval_name: outcome.evalName,
    eval_category: outcome.category,
    eval_type: outcome.type,
    outcome: outcome.outcome,
    reasoning: outcome.reasoning,
  };
}
