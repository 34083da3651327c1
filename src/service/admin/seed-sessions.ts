import type {
  EvalDefinition,
  SeedDocument,
  SeedOutcome,
  SeedSimulation,
  SeedTurn,
} from '../../contract/index.ts';
import { InvalidDocumentError } from '../domain/errors.ts';
import { makeDocumentId } from '../domain/ids.ts';
import type { StoredTurn, NewSession, Outcome } from '../store/store.ts';
import { checkEvalIds } from '../domain/evals.ts';
import { parseInstant } from '../domain/document-checks.ts';

/** What the sessions of a seed are read with. */
interface SeedContext {
  ownerId: string;
  known: readonly EvalDefinition[];
}

/** The simulations of a seed, each with an id. */
export function simulationsOf(
  document: SeedDocument,
  { ownerId }: Pick<SeedContext, 'ownerId'>,
): (SeedSimulation & { id: string })[] {
  return (document.simulations ?? []).map((simulation) => ({
    ...simulation,
    id: simulation.id ?? makeDocumentId('sim', [ownerId, simulation.name]),
  }));
}

/** A session of a seed, and the pointer to where it stands. */
interface SeededSession {
  session: NewSession;
  at: string;
}

/** The finished sessions of a seed, of simulations and of runs, one by one. @throws InvalidDocumentError. */
export function* sessionsOf(
  document: SeedDocument,
  context: SeedContext,
): Generator<SeededSession> {
  yield* simulatedSessions(document, context);
  yield* producedSessions(document, context);
}

function* simulatedSessions(
  document: SeedDocument,
  context: SeedContext,
): Generator<SeededSession> {
  const agents = document.agents ?? [];
  for (const [nth, simulation] of simulationsOf(document, context).entries()) {
    const agent = agents.find(({ id, name }) => [id, name].includes(simulation.agent));
    for (const [index, session] of (simulation.sessions ?? []).entries()) {
      const at = `/simulations/${nth}/sessions/${index}`;
      const made: NewSession = {
        ...common(session, context, { idParts: ['seed', simulation.id, String(index)], at }),
        kind: 'simulation',
        simulation: { id: simulation.id, name: simulation.name, deleted: false },
        agent: { name: agent?.name ?? simulation.agent, url: agent?.url ?? '' },
        scenario: session.scenario,
        persona: session.persona,
        runName: undefined,
        sourceSessionId: undefined,
      };
      yield { session: made, at };
    }
  }
}

function* producedSessions(document: SeedDocument, context: SeedContext): Generator<SeededSession> {
  for (const [nth, { name, sessions }] of (document.runs ?? []).entries()) {
    for (const [index, session] of sessions.entries()) {
      const at = `/runs/${nth}/sessions/${index}`;
      const made: NewSession = {
        ...common(session, context, { idParts: ['seed', name, session.source_session_id], at }),
        kind: 'production',
        runName: name,
        sourceSessionId: session.source_session_id,
        simulation: undefined,
        agent: undefined,
        scenario: undefined,
        persona: undefined,
      };
      yield { session: made, at };
    }
  }
}

type SeedSession = Omit<NonNullable<SeedSimulation['sessions']>[number], 'scenario' | 'persona'>;

function common(
  session: SeedSession,
  { ownerId, known }: SeedContext,
  { idParts, at }: { idParts: readonly string[]; at: string },
) {
  const startedAtMs = parseInstant(`${at}/started_at`, session.started_at);
  const ids = known.map(({ id }) => id);
  checkEvalIds(session.evals ?? [], ids, at);
  return {
    id: session.id ?? makeDocumentId('ses', [ownerId, ...idParts]),
    ownerId,
    status: session.status ?? ('completed' as const),
    startedAtMs,
    endedAtMs: parseInstant(`${at}/ended_at`, session.ended_at) ?? startedAtMs,
    endReason: session.end_reason,
    metadata: session.metadata,
    turns: (session.turns ?? []).map(toTurn),
    outcomes: (session.outcomes ?? []).map((outcome, index) =>
      toOutcome(outcome, known, `${at}/outcomes/${index}`),
    ),
    evals: known.filter(({ id }) => session.evals?.includes(id)),
  };
}

function toTurn(turn: SeedTurn, index: number): StoredTurn {
  return {
    sequence: index + 1,
    userInput: turn.user_input,
    userReason: turn.user_reason,
    agentResponse: turn.agent_response,
    evaluationMetadata: turn.evaluation_metadata,
  };
}

/** @throws InvalidDocumentError when the outcome does not say of which eval it is. */
function toOutcome(outcome: SeedOutcome, known: readonly EvalDefinition[], at: string): Outcome {
  const definition = known.find(({ id }) => id === outcome.eval);
  const name = outcome.eval_name ?? definition?.name;
  if (name === undefined) {
    const got = `got eval ${JSON.stringify(outcome.eval ?? null)}`;
    throw new InvalidDocumentError(
      at,
      `must name an eval that is there, or have an eval_name; ${got}`,
    );
  }
  return {
    evalId: outcome.eval ?? name,
    evalName: name,
    category: outcome.eval_category ?? definition?.category ?? 'general',
    type: outcome.eval_type ?? definition?.type ?? 'session_level',
    outcome: outcome.outcome,
    required: outcome.required ?? definition?.required ?? true,
    reasoning: outcome.reasoning ?? '',
  };
}
