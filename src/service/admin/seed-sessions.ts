import type {
  EvalDefinition,
  SeedDocument,
  SeedOutcome,
  SeedSimulation,
  SeedTurn,
} from '../../contract/index.ts';
import { InvalidDocumentError } from '../requests/errors.ts';
import { makeDocumentId } from '../store/ids.ts';
import type { NewSession, Outcome } from '../store/store.ts';
import type { StoredTurn } from '../turns/turn-types.ts';
import { checkEvalIds } from '../evals/definitions.ts';
import { parseInstant } from '../requests/document-checks.ts';

/** What the sessions of seed data may refer to. */
interface SeedContext {
  ownerId: string;
  evals: readonly EvalDefinition[];
}

/** Returns the simulations of seed data, each with an id. */
export function identifySimulations(
  document: SeedDocument,
  { ownerId }: Pick<SeedContext, 'ownerId'>,
): (SeedSimulation & { id: string })[] {
  return (document.simulations ?? []).map((simulation) => ({
    ...simulation,
    id: simulation.id ?? makeDocumentId('sim', [ownerId, simulation.name]),
  }));
}

/** A session of seed data and the JSON pointer to it. */
interface SeededSession {
  session: NewSession;
  at: string;
}

/** Yields the sessions of simulations and runs in seed data. @throws InvalidDocumentError. */
export function* readSessions(
  document: SeedDocument,
  context: SeedContext,
): Generator<SeededSession> {
  yield* readSimulatedSessions(document, context);
  yield* readProductionSessions(document, context);
}

function* readSimulatedSessions(
  document: SeedDocument,
  context: SeedContext,
): Generator<SeededSession> {
  const agents = document.agents ?? [];
  for (const [parent, simulation] of identifySimulations(document, context).entries()) {
    const agent = agents.find(({ id, name }) => [id, name].includes(simulation.agent));
    for (const [index, session] of (simulation.sessions ?? []).entries()) {
      const at = `/simulations/${parent}/sessions/${index}`;
      const newSession: NewSession = {
        ...readCommonFields(session, context, {
          idParts: ['seed', simulation.id, String(index)],
          at,
        }),
        kind: 'simulation',
        simulation: { id: simulation.id, name: simulation.name, deleted: false },
        agent: {
          ...(agent?.id !== undefined && { id: agent.id }),
          name: agent?.name ?? simulation.agent,
          url: agent?.url ?? '',
        },
        scenario: session.scenario,
        persona: session.persona,
        runName: undefined,
        sourceSessionId: undefined,
      };
      yield { session: newSession, at };
    }
  }
}

function* readProductionSessions(
  document: SeedDocument,
  context: SeedContext,
): Generator<SeededSession> {
  for (const [parent, { name, sessions }] of (document.runs ?? []).entries()) {
    for (const [index, session] of sessions.entries()) {
      const at = `/runs/${parent}/sessions/${index}`;
      const newSession: NewSession = {
        ...readCommonFields(session, context, {
          idParts: ['seed', name, session.source_session_id],
          at,
        }),
        kind: 'production',
        runName: name,
        sourceSessionId: session.source_session_id,
        simulation: undefined,
        agent: undefined,
        scenario: undefined,
        persona: undefined,
      };
      yield { session: newSession, at };
    }
  }
}

type SeedSession = Omit<NonNullable<SeedSimulation['sessions']>[number], 'scenario' | 'persona'>;

function readCommonFields(
  session: SeedSession,
  { ownerId, evals }: SeedContext,
  { idParts, at }: { idParts: readonly string[]; at: string },
) {
  const startedAtMs = parseInstant(`${at}/started_at`, session.started_at);
  checkEvalIds(
    session.evals ?? [],
    evals.map(({ id }) => id),
    at,
  );
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
      toOutcome(outcome, evals, `${at}/outcomes/${index}`),
    ),
    evals: evals.filter(({ id }) => session.evals?.includes(id)),
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

/** @throws InvalidDocumentError when the outcome names no eval. */
function toOutcome(outcome: SeedOutcome, evals: readonly EvalDefinition[], at: string): Outcome {
  const definition = evals.find(({ id }) => id === outcome.eval);
  const name = outcome.eval_name ?? definition?.name;
  if (name === undefined) {
    const got = `got eval ${JSON.stringify(outcome.eval ?? null)}`;
    throw new InvalidDocumentError(at, `must name an existing eval or contain eval_name; ${got}`);
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
