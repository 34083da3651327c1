import type { FastifyInstance } from 'fastify';
import type { EvalDefinition, TranscriptUpload } from '../../contract/index.ts';
import { isoTime, type Clock } from '../../platform/clock.ts';
import { findLiveEvals } from '../domain/evals.ts';
import type { NewSession, Store } from '../store/store.ts';
import { parseMessage } from '../domain/document-checks.ts';
import { checkEvalIds } from '../domain/evals.ts';
import { parseInstant } from '../domain/document-checks.ts';
import type { Owners } from './owners.ts';
import { makeDocumentId } from '../domain/ids.ts';

/** What transcripts are taken in with. */
export interface TranscriptDeps {
  store: Store;
  clock: Clock;
  /** Told that there is something to score. */
  wake: () => void;
}

/** What became of a transcript. */
interface TakenTranscript {
  session_id: string;
  /** The service's own id of the session. */
  id: string;
  run: string;
  evaluations_queued: number;
}

const runNameDefault = 'Transcripts';

/** `POST /transcripts`: a finished conversation, scored at once. */
export function transcriptRoutes(
  app: FastifyInstance,
  deps: TranscriptDeps & { owners: Owners },
): void {
  app.post('/transcripts', async (request) => {
    const upload = parseMessage('TranscriptUpload', request.body);
    return takeTranscript(deps, await deps.owners.findOrCreate(request), upload);
  });
}

/**
 * Keeps a transcript and queues its evals: the ones that it names, else the live set. Given again
 * within the same run, it replaces what was there. @throws InvalidDocumentError.
 */
async function takeTranscript(
  deps: TranscriptDeps,
  ownerId: string,
  upload: TranscriptUpload,
): Promise<TakenTranscript> {
  const { store, clock } = deps;
  const session = toSession(upload, {
    ownerId,
    nowMs: clock.nowMs(),
    known: await store.evals.list(ownerId),
    live: (await findLiveEvals(store.evals, ownerId)).evals,
  });
  await store.sessions.add(session);
  const { id, evals, runName } = session;
  if (evals.length > 0) deps.wake();
  return { session_id: upload.session_id, id, run: runName, evaluations_queued: evals.length };
}

/** What a transcript is read with. */
export interface TranscriptContext {
  ownerId: string;
  nowMs: number;
  known: readonly EvalDefinition[];
  /** The evals that score it unless it names others. */
  live: readonly EvalDefinition[];
}

/** A transcript as it is kept. `at` is the pointer to where it stands. @throws InvalidDocumentError. */
export function toSession(
  upload: TranscriptUpload,
  { ownerId, nowMs, known, live }: TranscriptContext,
  at = '',
): NewSession & { runName: string } {
  const { evals: evalIds, turns, session_id: sourceSessionId } = upload;
  const knownIds = known.map(({ id }) => id);
  if (evalIds) checkEvalIds(evalIds, knownIds, at);
  const evals = evalIds ? known.filter(({ id }) => evalIds.includes(id)) : live;
  const startedAtMs = parseInstant(`${at}/started_at`, upload.started_at) ?? nowMs;
  const runName = upload.run ?? `${runNameDefault} ${isoTime(startedAtMs).slice(0, 10)}`;
  return {
    id: makeDocumentId('ses', ['transcript', ownerId, runName, sourceSessionId]),
    kind: 'production',
    ownerId,
    status: evals.length > 0 ? 'evaluating' : 'completed',
    startedAtMs,
    endedAtMs: startedAtMs,
    runName,
    sourceSessionId,
    ...{ simulation: undefined, agent: undefined, scenario: undefined, persona: undefined },
    endReason: undefined,
    metadata: upload.metadata,
    turns: turns.map((turn, index) => ({
      sequence: index + 1,
      userInput: turn.user_input,
      userReason: undefined,
      agentResponse: turn.agent_response,
      evaluationMetadata: turn.evaluation_metadata,
    })),
    outcomes: [],
    evals,
  };
}
