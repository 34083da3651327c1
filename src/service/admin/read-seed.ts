import { hash } from 'node:crypto';
import type { SeedDocument, TranscriptUpload } from '../../contract/index.ts';
import { digestKey } from '../../http-kit/local-access.ts';
import { systemClock } from '../../platform/clock.ts';
import { yieldPeriodically } from '../../platform/event-loop.ts';
import { checkEvalIds, parseEval } from '../evals/definitions.ts';
import {
  checkCount,
  findKnownDocuments,
  toAgent,
  toScenario,
  type KnownDocuments,
} from '../operations/documents.ts';
import {
  toSession,
  type TranscriptContext,
  type TranscriptOptions,
} from '../operations/transcripts.ts';
import { checkUnique } from '../requests/document-checks.ts';
import { InvalidDocumentError } from '../requests/errors.ts';
import { makeDocumentId } from '../store/ids.ts';
import type { NewDocument, NewSession, SeedData } from '../store/store.ts';
import { identifySimulations, readSessions } from './seed-sessions.ts';

/** Seed data, its owner, and whether it replaces everything that the owner has. */
export interface SeedInput {
  ownerId: string;
  document: SeedDocument;
  replaceAll: boolean;
}

const NOTHING_KNOWN: KnownDocuments = { evals: [], agents: [], personaIds: [], scenarioIds: [] };

/** Checks seed data completely before anything is stored. @throws RequestError. */
export async function readSeed(options: TranscriptOptions, input: SeedInput): Promise<SeedData> {
  const { store, clock } = options;
  const { ownerId, document, replaceAll } = input;
  const { settings = {} } = document;
  const stored = replaceAll ? NOTHING_KNOWN : await findKnownDocuments(store, ownerId);
  const seedEvals = (document.evals ?? []).map((value, index) =>
    parseEval(value, `/evals/${index}`),
  );
  checkIds(document, ownerId);
  // An eval of the document takes the place of a stored one, as it does when it is stored.
  const evals = [
    ...new Map([...stored.evals, ...seedEvals].map((each) => [each.id, each])).values(),
  ];
  checkCount('eval', evals);
  const evalIds = evals.map(({ id }) => id);
  checkEvalIds(settings.evals ?? [], evalIds, '/settings');
  const storedSettings = replaceAll ? undefined : await store.settings.get(ownerId);
  const liveIds = settings.evals ?? storedSettings?.evals ?? [];
  const liveEvals = liveIds.flatMap((id) => evals.find((each) => each.id === id) ?? []);
  const context = { ownerId, evals, liveEvals, nowMs: clock.nowMs() };
  const sessions = await readAllSessions(document, context);
  const simulations = identifySimulations(document, context);
  return {
    ownerId,
    replaceAll,
    keys: (document.keys ?? []).map(({ key, owner, label }) => ({
      // Without a key, the entry only creates the owner: a generated key could not be returned.
      keyDigest: key === undefined ? undefined : digestKey(key),
      ownerName: owner,
      createdAtMs: clock.nowMs(),
      ...(label !== undefined && { label }),
    })),
    evals: seedEvals,
    settings,
    documents: readDocuments(input, { ...stored, evals }),
    sessions,
    dueAtMs: context.nowMs,
    deletedSimulations: simulations.filter(({ deleted }) => deleted).map(({ id }) => id),
  };
}

/** How long reading seed data may block the event loop. */
const BLOCKING_MS_MAX = 10;

/** Returns all sessions of seed data. @throws InvalidDocumentError. */
async function readAllSessions(
  document: SeedDocument,
  context: TranscriptContext,
): Promise<NewSession[]> {
  const yieldIfDue = yieldPeriodically(systemClock, BLOCKING_MS_MAX);
  const sessions: NewSession[] = [];
  const pointerById = new Map<string, string>();
  const add = async (session: NewSession, at: string): Promise<void> => {
    const earlier = pointerById.get(session.id);
    if (earlier !== undefined) {
      throw new InvalidDocumentError(at, `is the same session as ${earlier}`, earlier);
    }
    pointerById.set(session.id, at);
    sessions.push(session);
    await yieldIfDue();
  };
  for (const { session, at } of readSessions(document, context)) await add(withDigest(session), at);
  for (const [index, upload] of (document.transcripts ?? []).entries()) {
    const at = `/transcripts/${index}`;
    await add(readTranscript(upload, context, at), at);
  }
  return sessions;
}

/** Checks that ids are unique per kind. @throws InvalidDocumentError. */
function checkIds(document: SeedDocument, ownerId: string): void {
  for (const kind of ['evals', 'personas', 'scenarios'] as const) {
    const ids = (document[kind] ?? []).map(({ id }) => id);
    checkUnique(ids, (index) => `/${kind}/${index}/id`);
  }
  // The id of an agent or simulation without one derives from its name.
  const { agents = [], simulations = [] } = document;
  checkUnique(
    agents.map(({ id, name }) => id ?? JSON.stringify(name)),
    (index) => `/agents/${index}/${agents[index]?.id === undefined ? 'name' : 'id'}`,
    (index) => agents[index]?.id ?? agents[index]?.name,
  );
  checkUnique(
    identifySimulations(document, { ownerId }).map(({ id }) => id),
    (index) => `/simulations/${index}/${simulations[index]?.id === undefined ? 'name' : 'id'}`,
    (index) => simulations[index]?.id ?? simulations[index]?.name,
  );
}

/**
 * Returns a transcript of seed data as a session. A transcript without a time or run gets the time
 * and run of its first load. Its id and digest do not depend on them, so that a second load of the
 * same document changes nothing.
 */
function readTranscript(
  upload: TranscriptUpload,
  context: TranscriptContext,
  at: string,
): NewSession {
  const session = toSession(upload, context, at);
  const { run, started_at: startedAt, session_id: sessionId } = upload;
  if (startedAt !== undefined) return withDigest(session);
  const id = makeDocumentId('ses', ['seeded transcript', context.ownerId, run ?? '', sessionId]);
  const undated = { ...session, id, startedAtMs: 0, endedAtMs: 0, runName: run };
  return { ...session, id, seedDigest: digestSession(undated) };
}

const withDigest = (session: NewSession): NewSession => ({
  ...session,
  seedDigest: digestSession(session),
});

const digestSession = (session: NewSession): string =>
  hash('sha256', JSON.stringify(session), 'hex');

/** Returns the agents, personas and scenarios of seed data. @throws RequestError. */
function readDocuments({ ownerId, document }: SeedInput, known: KnownDocuments): NewDocument[] {
  const context = { ownerId, known };
  const agents = (document.agents ?? []).flatMap(({ url, ...agent }, index) => {
    if (url !== undefined) return toAgent({ ...agent, url }, context, `/agents/${index}`);
    const dependent = agent.api_key === undefined ? 'voice_url' : 'api_key';
    if (agent[dependent] === undefined) return [];
    const problem = `is required when there is ${dependent === 'api_key' ? 'an' : 'a'} ${dependent}`;
    throw new InvalidDocumentError(`/agents/${index}/url`, problem);
  });
  const personas = document.personas ?? [];
  const personaIds = [...known.personaIds, ...personas.map(({ id }) => id)];
  const scenarios = (document.scenarios ?? []).map((scenario, index) =>
    toScenario(scenario, { ownerId, known: { ...known, personaIds } }, `/scenarios/${index}`),
  );
  checkCount('agent', [...known.agents, ...agents.map((agent) => agent.document)]);
  checkCount(
    'persona',
    personaIds.map((id) => ({ id })),
  );
  const knownScenarios = known.scenarioIds.map((id) => ({ id }));
  checkCount('scenario', [...knownScenarios, ...scenarios.map((scenario) => scenario.document)]);
  return [
    ...agents,
    ...personas.map((persona) => ({ kind: 'persona', document: persona }) as const),
    ...scenarios,
  ];
}
