import type { FastifyInstance } from 'fastify';
import type {
  EvalDefinition,
  SeedDocument,
  SeedOutcome,
  SeedSimulation,
  SeedTurn,
} from '../../contract/index.ts';
import { Refusal } from '../errors.ts';
import type { KeptTurn, NewSession, Outcome } from '../store/store.ts';
import { asMessage } from '../wire.ts';
import { checkKnown, toEval } from './evals.ts';
import { grantKey, newKey } from './keys.ts';
import type { Owners } from './owners.ts';
import { readInstant } from './read-instant.ts';
import { takeTranscript, type TranscriptDeps } from './transcripts.ts';

/** What a seed is planted with. */
export interface SeedDeps extends TranscriptDeps {
  owners: Owners;
}

/** The seeds that `reset` goes back to: of each owner the last that was planted. */
export interface Seeds {
  /** Checks the document as a whole, then adds what is in it. @throws Refusal. */
  plant(ownerId: string, document: SeedDocument): Promise<SeedCounts>;
  /** Plants the owner's seed again; nothing when it has none. */
  replant(ownerId: string): Promise<void>;
}

/** How many of each there were in a seed. */
export type SeedCounts = Record<'keys' | 'evals' | 'transcripts' | 'simulations' | 'runs', number>;

/** Keeps seeds to go back to. */
export function seedBed(deps: SeedDeps): Seeds {
  const planted = new Map<string, SeedDocument>();
  const plant = async (ownerId: string, document: SeedDocument): Promise<SeedCounts> => {
    const sessions = await readSeed(deps, ownerId, document);
    await plantSeed(deps, { ownerId, document, sessions });
    planted.set(ownerId, document);
    return countsOf(document);
  };
  return {
    plant,
    async replant(ownerId) {
      const document = planted.get(ownerId);
      if (document) await plant(ownerId, document);
    },
  };
}

/** `POST /seed`. */
export function seedRoutes(
  app: FastifyInstance,
  { owners, seeds }: { owners: Owners; seeds: Seeds },
): void {
  app.post('/seed', async (request) => {
    const document = asMessage('SeedDocument', request.body);
    return { seeded: await seeds.plant(await owners.namedOrNew(request), document) };
  });
}

/** Finds what is wrong before anything is written, and makes the sessions. @throws Refusal. */
async function readSeed(
  deps: SeedDeps,
  ownerId: string,
  document: SeedDocument,
): Promise<NewSession[]> {
  const brought = (document.evals ?? []).map(toEval);
  const known = [...brought, ...(await deps.store.evals.list(ownerId))];
  const ids = known.map(({ id }) => id);
  checkKnown(document.settings?.evals ?? [], ids);
  for (const { evals, started_at: startedAt } of document.transcripts ?? []) {
    checkKnown(evals ?? [], ids);
    readInstant('/transcripts/started_at', startedAt);
  }
  for (const list of ['simulations', 'runs'] as const) {
    for (const [nth, { sessions = [] }] of (document[list] ?? []).entries()) {
      for (const [place, { evals = [] }] of sessions.entries()) {
        checkKnown(evals, ids, `/${list}/${nth}/sessions/${place}/evals`);
      }
    }
  }
  return sessionsOf(document, { makeId: deps.makeId, ownerId, known });
}

async function plantSeed(
  deps: SeedDeps,
  seed: { ownerId: string; document: SeedDocument; sessions: readonly NewSession[] },
): Promise<void> {
  const { store, owners } = deps;
  const { ownerId, document, sessions } = seed;
  for (const { key = newKey(), owner } of document.keys ?? []) {
    const holder = owner === undefined ? ownerId : await owners.ensure(owner);
    await grantKey(store.owners, { key, ownerId: holder });
  }
  for (const definition of document.evals ?? []) await store.evals.put(ownerId, definition);
  if (document.settings) await store.evals.putSettings(ownerId, document.settings);
  for (const session of sessions) await store.sessions.add(session);
  if (sessions.some(({ evals }) => evals.length > 0)) deps.wake();
  for (const { id = '', deleted } of simulationsOf(document, deps.makeId, ownerId)) {
    if (deleted) await store.sessions.deleteSimulation(ownerId, id);
  }
  for (const upload of document.transcripts ?? []) await takeTranscript(deps, ownerId, upload);
}

interface SeedContext extends Pick<SeedDeps, 'makeId'> {
  ownerId: string;
  known: readonly EvalDefinition[];
}

function simulationsOf(
  document: SeedDocument,
  makeId: SeedDeps['makeId'],
  ownerId: string,
): SeedSimulation[] {
  return (document.simulations ?? []).map((simulation) => ({
    ...simulation,
    id: simulation.id ?? makeId('sim', [ownerId, simulation.name]),
  }));
}

function sessionsOf(document: SeedDocument, context: SeedContext): NewSession[] {
  const { makeId, ownerId } = context;
  const agents = document.agents ?? [];
  const simulated = simulationsOf(document, makeId, ownerId).flatMap((simulation) => {
    const agent = agents.find(({ id, name }) => [id, name].includes(simulation.agent));
    return (simulation.sessions ?? []).map((session, index) => ({
      ...common(session, context, ['seed', simulation.id ?? '', String(index)]),
      kind: 'simulation' as const,
      simulation: { id: simulation.id ?? '', name: simulation.name, deleted: false },
      agent: { name: agent?.name ?? simulation.agent, url: agent?.url ?? '' },
      scenario: session.scenario,
      persona: session.persona,
      runName: undefined,
      sourceSessionId: undefined,
    }));
  });
  const produced = (document.runs ?? []).flatMap(({ name, sessions }) =>
    sessions.map((session) => ({
      ...common(session, context, ['seed', name, session.source_session_id]),
      kind: 'production' as const,
      runName: name,
      sourceSessionId: session.source_session_id,
      simulation: undefined,
      agent: undefined,
      scenario: undefined,
      persona: undefined,
    })),
  );
  return [...simulated, ...produced];
}

type SeedSession = Omit<NonNullable<SeedSimulation['sessions']>[number], 'scenario' | 'persona'>;

function common(session: SeedSession, context: SeedContext, parts: readonly string[]) {
  const { ownerId, makeId, known } = context;
  const startedAtMs = readInstant('/started_at', session.started_at);
  return {
    id: session.id ?? makeId('ses', [ownerId, ...parts]),
    ownerId,
    status: session.status ?? ('completed' as const),
    startedAtMs,
    endedAtMs: readInstant('/ended_at', session.ended_at) ?? startedAtMs,
    endReason: session.end_reason,
    metadata: session.metadata,
    turns: (session.turns ?? []).map(toTurn),
    outcomes: (session.outcomes ?? []).map((outcome) => toOutcome(outcome, known)),
    evals: known.filter(({ id }) => session.evals?.includes(id)),
  };
}

function toTurn(turn: SeedTurn, index: number): KeptTurn {
  return {
    sequence: index + 1,
    userInput: turn.user_input,
    userReason: turn.user_reason,
    agentResponse: turn.agent_response,
    evaluationMetadata: turn.evaluation_metadata,
  };
}

/** @throws Refusal `bad_request` when the outcome does not say of which eval it is. */
function toOutcome(outcome: SeedOutcome, known: readonly EvalDefinition[]): Outcome {
  const definition = known.find(({ id }) => id === outcome.eval);
  const name = outcome.eval_name ?? definition?.name;
  if (name === undefined) {
    const wanted = 'an outcome must name an eval that is there, or have an eval_name';
    throw new Refusal('bad_request', `${wanted}; got eval ${JSON.stringify(outcome.eval ?? null)}`);
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

function countsOf(document: SeedDocument): SeedCounts {
  const { keys = [], evals = [], transcripts = [], simulations = [], runs = [] } = document;
  return {
    keys: keys.length,
    evals: evals.length,
    transcripts: transcripts.length,
    simulations: simulations.length,
    runs: runs.length,
  };
}
