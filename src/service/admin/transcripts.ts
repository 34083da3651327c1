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

export interface TranscriptOptions {
  store: Store;
  clock: Clock;
  /** Starts scoring what was queued. */
  wake: () => void;
}

/** The response to an uploaded transcript. */
interface StoredTranscript {
  session_id: string;
  /** The service's id of the session. */
  id: string;
  run: string;
  evaluations_queued: number;
}

const RUN_NAME_DEFAULT = 'Transcripts';

/** `POST /transcripts`: stores a finished conversation and queues its evals. */
export function addTranscriptRoutes(
  app: FastifyInstance,
  options: TranscriptOptions & { owners: Owners },
): void {
  app.post('/transcripts', async (request) => {
    const upload = parseMessage('TranscriptUpload', request.body);
    return storeTranscript(options, await options.owners.findOrCreate(request), upload);
  });
}

/**
 * Stores a transcript and queues its evals: those that it names, or else the live evals. A transcript
 * of the same session in the same run is replaced. @throws InvalidDocumentError.
 */
async function storeTranscript(
  options: TranscriptOptions,
  ownerId: string,
  upload: TranscriptUpload,
): Promise<StoredTranscript> {
  const { store, clock, wake } = options;
  const session = toSession(upload, {
    ownerId,
    nowMs: clock.nowMs(),
    evals: await store.evals.list(ownerId),
    liveEvals: (await findLiveEvals(store.evals, ownerId)).evals,
  });
  await store.sessions.add(session);
  const { id, evals, runName } = session;
  if (evals.length > 0) wake();
  return { session_id: upload.session_id, id, run: runName, evaluations_queued: evals.length };
}

/** What a transcript may refer to. */
export interface TranscriptContext {
  ownerId: string;
  nowMs: number;
  evals: readonly EvalDefinition[];
  /** The evals of a transcript that names none. */
  liveEvals: readonly EvalDefinition[];
}

/**
 * Returns a transcript as a session to store.
 * @param at JSON pointer to the transcript.
 * @throws InvalidDocumentError.
 */
export function toSession(
  upload: TranscriptUpload,
  { ownerId, nowMs, evals: known, liveEvals }: TranscriptContext,
  at = '',
): NewSession & { runName: string } {
  const { evals: evalIds, turns, session_id: sourceSessionId } = upload;
  const knownIds = known.map(({ id }) => id);
  if (evalIds) checkEvalIds(evalIds, knownIds, at);
  const evals = evalIds ? known.filter(({ id }) => evalIds.includes(id)) : liveEvals;
  const startedAtMs = parseInstant(`${at}/started_at`, upload.started_at) ?? nowMs;
  const runName = upload.run ?? `${RUN_NAME_DEFAULT} ${isoTime(startedAtMs).slice(0, 10)}`;
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
