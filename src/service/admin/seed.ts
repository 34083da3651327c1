import { hash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { EvalDefinition, SeedDocument, TranscriptUpload } from '../../contract/index.ts';
import { yieldPeriodically } from '../../platform/event-loop.ts';
import { systemClock } from '../../platform/clock.ts';
import { InvalidDocumentError, RequestError } from '../domain/errors.ts';
import { keyDigestOf } from '../app/authentication.ts';
import { makeDocumentId } from '../domain/ids.ts';
import type { NewDocument, SeedData, OnSeedProgress } from '../store/store.ts';
import type { NewSession } from '../store/store.ts';
import { parseMessage } from '../domain/document-checks.ts';
import { checkRoom, knownOf, toAgent, toScenario, type Known } from './documents.ts';
import { checkUnique } from '../domain/document-checks.ts';
import { checkEvalIds, parseEval } from '../domain/evals.ts';
import type { Owners } from './owners.ts';
import { sessionsOf, simulationsOf } from './seed-sessions.ts';
import type { FindSettingsWarnings } from './evals.ts';
import { toSession, type TranscriptContext, type TranscriptDeps } from './transcripts.ts';

/** The seeds that `reset` goes back to: of each owner the last that was planted. */
export interface Seeds {
  /**
   * Checks the document as a whole, then keeps all that is in it, or nothing. @throws RequestError.
   */
  plant(ownerId: string, document: SeedDocument, onProgress?: OnSeedProgress): Promise<SeedCounts>;
  /**
   * Forgets what the owner has, but its keys, and plants its seed again; nothing more when it has
   * none. @throws RequestError when the seed cannot stand alone; then nothing is forgotten.
   */
  replant(ownerId: string): Promise<void>;
}

/** How many of each there were in a seed. */
export type SeedCounts = Record<(typeof counted)[number], number>;

const counted = [
  'keys',
  'agents',
  'evals',
  'personas',
  'scenarios',
  'transcripts',
  'simulations',
  'runs',
] as const;

/** Keeps seeds to go back to. */
export function seedBed(deps: TranscriptDeps): Seeds {
  const planted = new Map<string, SeedDocument>();
  const plant = async (given: Given, onProgress?: OnSeedProgress): Promise<void> => {
    const planting = await readSeed(deps, given);
    const keyTaken = await deps.store.insertSeedData({ ...planting, onProgress });
    if (keyTaken !== undefined) {
      throw new RequestError('conflict', `/keys/${keyTaken}/key belongs to another owner`);
    }
    if (planting.sessions.some(({ evals }) => evals.length > 0)) deps.wake();
  };
  return {
    async plant(ownerId, document, onProgress) {
      await plant({ ownerId, document, afresh: false }, onProgress);
      planted.set(ownerId, document);
      return countsOf(document);
    },
    async replant(ownerId) {
      await plant({ ownerId, document: planted.get(ownerId) ?? {}, afresh: true });
    },
  };
}

/** `POST /seed`. */
export function seedRoutes(
  app: FastifyInstance,
  {
    owners,
    seeds,
    findWarnings,
  }: {
    owners: Owners;
    seeds: Seeds;
    findWarnings: FindSettingsWarnings;
  },
): void {
  app.post('/seed', async (request) => {
    const document = parseMessage('SeedDocument', request.body);
    const ownerId = await owners.findOrCreate(request);
    const seeded = await seeds.plant(ownerId, document);
    const warnings = await findWarnings(ownerId);
    return { seeded, ...(warnings.length > 0 && { warnings }) };
  });
}

/** A seed, whose it is, and whether it takes the place of all that is there. */
interface Given {
  ownerId: string;
  document: SeedDocument;
  afresh: boolean;
}

const nothing: Known = { evals: [], agents: [], personaIds: [], scenarioIds: [] };

/** Finds what is wrong before anything is written. @throws RequestError. */
async function readSeed(deps: TranscriptDeps, given: Given): Promise<SeedData> {
  const { store, clock } = deps;
  const { ownerId, document, afresh } = given;
  const { settings = {} } = document;
  const before = afresh ? nothing : await knownOf(store, ownerId);
  const evals = (document.evals ?? []).map((value, nth) => parseEval(value, `/evals/${nth}`));
  checkIds(document, ownerId);
  // Those of the document hold, as they do once they are kept.
  const known = [...new Map([...before.evals, ...evals].map((one) => [one.id, one])).values()];
  checkEvalIds(
    settings.evals ?? [],
    known.map(({ id }) => id),
    '/settings',
  );
  const liveIds = settings.evals ?? (afresh ? [] : (await store.evals.getSettings(ownerId)).evals);
  const live = liveIds.flatMap((id) => known.find((one) => one.id === id) ?? []);
  const context = { ownerId, known, live, nowMs: clock.nowMs() };
  const sessions = await seededSessions(document, context);
  const simulations = simulationsOf(document, context);
  return {
    ownerId,
    replaceAll: afresh,
    keys: (document.keys ?? []).map(({ key, owner }) => ({
      // One that is left out nobody would ever learn.
      keyDigest: key === undefined ? undefined : keyDigestOf(key),
      ownerName: owner,
    })),
    evals,
    settings,
    documents: documentsOf(given, { ...before, evals: known }),
    sessions,
    deletedSimulations: simulations.filter(({ deleted }) => deleted).map(({ id }) => id),
  };
}

/** How long the reading of a long seed goes on before everything else has its turn. */
const readMsMax = 10;

/** All sessions that a seed brings. @throws InvalidDocumentError. */
async function seededSessions(
  document: SeedDocument,
  context: TranscriptContext,
): Promise<NewSession[]> {
  const breathe = yieldPeriodically(systemClock, readMsMax);
  const sessions: NewSession[] = [];
  const places = new Map<string, string>();
  const keep = async (session: NewSession, at: string): Promise<void> => {
    const first = places.get(session.id);
    if (first !== undefined)
      throw new InvalidDocumentError(at, `is the same session as ${first}`, first);
    places.set(session.id, at);
    sessions.push(session);
    await breathe();
  };
  for (const { session, at } of sessionsOf(document, context)) await keep(withDigest(session), at);
  for (const [nth, upload] of (document.transcripts ?? []).entries()) {
    const at = `/transcripts/${nth}`;
    await keep(seededTranscript(upload, context, at), at);
  }
  return sessions;
}

/** No two of a kind have one id: of two, the later would silently hold. @throws InvalidDocumentError. */
function checkIds(document: SeedDocument, ownerId: string): void {
  for (const kind of ['evals', 'personas', 'scenarios'] as const) {
    const ids = (document[kind] ?? []).map(({ id }) => id);
    checkUnique(ids, (nth) => `/${kind}/${nth}/id`);
  }
  // What has no id has one that follows from its name.
  const { agents = [], simulations = [] } = document;
  checkUnique(
    agents.map(({ id, name }) => id ?? JSON.stringify(name)),
    (nth) => `/agents/${nth}/${agents[nth]?.id === undefined ? 'name' : 'id'}`,
    (nth) => agents[nth]?.id ?? agents[nth]?.name,
  );
  checkUnique(
    simulationsOf(document, { ownerId }).map(({ id }) => id),
    (nth) => `/simulations/${nth}/${simulations[nth]?.id === undefined ? 'name' : 'id'}`,
    (nth) => simulations[nth]?.id ?? simulations[nth]?.name,
  );
}

/**
 * A transcript of a seed. Where it says neither when it was nor in which run, it has the time and
 * the run of its first planting; its id, and whether it has changed, do not follow from them.
 */
function seededTranscript(
  upload: TranscriptUpload,
  context: TranscriptContext,
  at: string,
): NewSession {
  const session = toSession(upload, context, at);
  const { run, started_at: startedAt, session_id: sessionId } = upload;
  if (startedAt !== undefined) return withDigest(session);
  const id = makeDocumentId('ses', ['seeded transcript', context.ownerId, run ?? '', sessionId]);
  const undated = { ...session, id, startedAtMs: 0, endedAtMs: 0, runName: run };
  return { ...session, id, seedDigest: digestOf(undated) };
}

const withDigest = (session: NewSession): NewSession => ({
  ...session,
  seedDigest: digestOf(session),
});

const digestOf = (session: NewSession): string => hash('sha256', JSON.stringify(session), 'hex');

/** The agents, personas and scenarios of a seed. @throws RequestError. */
function documentsOf(
  { ownerId, document }: Given,
  known: Known & { evals: readonly EvalDefinition[] },
): NewDocument[] {
  const context = { ownerId, known };
  const agents = (document.agents ?? []).flatMap(({ url, ...agent }, nth) => {
    if (url !== undefined) return toAgent({ ...agent, url }, context);
    if (agent.api_key === undefined) return [];
    throw new InvalidDocumentError(
      `/agents/${nth}/url`,
      'must be an address where there is an api_key',
    );
  });
  const personas = (document.personas ?? []).map(
    (persona) => ({ kind: 'persona', document: persona }) as const,
  );
  const brought = personas.map((one) => one.document);
  const personaIds = [...known.personaIds, ...brought.map(({ id }) => id)];
  const scenarios = (document.scenarios ?? []).map((scenario, nth) =>
    toScenario(scenario, { ...context, known: { ...known, personaIds } }, `/scenarios/${nth}`),
  );
  checkRoom('agent', [...known.agents, ...agents.map((one) => one.document)]);
  checkRoom('persona', [...known.personaIds.map((id) => ({ id })), ...brought]);
  const kept = known.scenarioIds.map((id) => ({ id }));
  checkRoom('scenario', [...kept, ...scenarios.map((one) => one.document)]);
  return [...agents, ...personas, ...scenarios];
}

function countsOf(document: SeedDocument): SeedCounts {
  const counts = counted.map((name) => [name, document[name]?.length ?? 0] as const);
  return Object.fromEntries(counts) as SeedCounts;
}
