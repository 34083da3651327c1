import type { EvalDefinition, TranscriptUpload } from '../../contract/index.ts';
import { isoDate, type Clock } from '../../platform/clock.ts';
import { checkEvalIds, findLiveEvals } from '../evals/definitions.ts';
import { parseInstant } from '../requests/document-checks.ts';
import { makeDocumentId } from '../store/ids.ts';
import type { NewSession, Store } from '../store/store.ts';
import { decodeText } from './transcript-file/decode-text.ts';
import {
  readTranscripts,
  type TranscriptFile,
  type TranscriptFormat,
} from './transcript-file/read-transcripts.ts';
import { pauseForWriter } from '../background/writer-pause.ts';

export interface TranscriptOptions {
  store: Store;
  clock: Clock;
  /** Starts scoring what was queued. */
  wake: () => void;
}

/** A transcript as a session to store. */
export type TranscriptSession = NewSession & { runName: string };

/** A stored transcript. */
interface StoredTranscript {
  session_id: string;
  /** The service's id of the session. */
  id: string;
  run: string;
  evaluations_queued: number;
}

const RUN_NAME_DEFAULT = 'Transcripts';

/**
 * Stores a transcript and queues its evals: those that it names, or else the live evals. A transcript
 * of the same session in the same run is replaced. @throws InvalidDocumentError.
 */
export async function storeTranscript(
  options: TranscriptOptions,
  ownerId: string,
  upload: TranscriptUpload,
): Promise<StoredTranscript> {
  const session = toSession(upload, await findContext(options, ownerId));
  await options.store.sessions.add(session, options.clock.nowMs());
  const { id, evals, runName } = session;
  if (evals.length > 0) options.wake();
  return { session_id: upload.session_id, id, run: runName, evaluations_queued: evals.length };
}

/** A file with transcripts, and what applies to those that do not say it themselves. */
export interface UploadedFile {
  bytes: Uint8Array;
  /** Default: recognized from the content. */
  format: TranscriptFormat | undefined;
  /** Default: the name with the date of each conversation. */
  run: string | undefined;
  /** Default: the live evals. */
  evalIds: readonly string[] | undefined;
}

/**
 * Reads a file with transcripts, and stores nothing.
 * @throws RequestError if it is not text, not in its format, or too large.
 */
export async function readUploadedFile(
  options: TranscriptOptions,
  ownerId: string,
  { bytes, format, run, evalIds }: UploadedFile,
): Promise<TranscriptFile<TranscriptSession>> {
  const context = await findContext(options, ownerId);
  const chosen = context.evals.filter(({ id }) => evalIds?.includes(id));
  const liveEvals = evalIds === undefined ? context.liveEvals : chosen;
  return readTranscripts(decodeText(bytes), format, (upload) =>
    toSession({ ...(run !== undefined && { run }), ...upload }, { ...context, liveEvals }),
  );
}

/** What was stored of a file. */
export interface StoredSessions {
  stored: number;
  /** How many of them replaced an earlier session. */
  replaced: number;
  /** How many evals were queued. */
  queued: number;
  /** The runs of the sessions, in the order of the file. */
  runs: { name: string; sessions: number }[];
}

/** How many sessions are stored in one transaction, which blocks the writer of spans. */
const SESSIONS_PER_TRANSACTION = 1_000;

/** Stores transcripts, and queues their evals. */
export async function storeSessions(
  { store, clock, wake }: TranscriptOptions,
  sessions: readonly TranscriptSession[],
): Promise<StoredSessions> {
  let replaced = 0;
  for (let from = 0; from < sessions.length; from += SESSIONS_PER_TRANSACTION) {
    if (from > 0) await pauseForWriter();
    const batch = sessions.slice(from, from + SESSIONS_PER_TRANSACTION);
    replaced += (await store.sessions.addAll(batch, clock.nowMs())).replaced;
  }
  const queued = sessions.reduce((count, { evals }) => count + evals.length, 0);
  if (queued > 0) wake();
  const byRun = Map.groupBy(sessions, ({ runName }) => runName);
  const runs = [...byRun].map(([name, group]) => ({ name, sessions: group.length }));
  return { stored: sessions.length, replaced, queued, runs };
}

/** What a transcript may refer to. */
export interface TranscriptContext {
  ownerId: string;
  nowMs: number;
  evals: readonly EvalDefinition[];
  /** The evals of a transcript that names none. */
  liveEvals: readonly EvalDefinition[];
}

async function findContext(
  { store, clock }: TranscriptOptions,
  ownerId: string,
): Promise<TranscriptContext> {
  return {
    ownerId,
    nowMs: clock.nowMs(),
    evals: await store.evals.list(ownerId),
    liveEvals: (await findLiveEvals(store, ownerId)).evals,
  };
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
): TranscriptSession {
  const { evals: evalIds, turns, session_id: sourceSessionId } = upload;
  const knownIds = known.map(({ id }) => id);
  if (evalIds) checkEvalIds(evalIds, knownIds, at);
  const evals = evalIds ? known.filter(({ id }) => evalIds.includes(id)) : liveEvals;
  const startedAtMs = parseInstant(`${at}/started_at`, upload.started_at) ?? nowMs;
  const runName = upload.run ?? `${RUN_NAME_DEFAULT} ${isoDate(startedAtMs)}`;
  return {
    id: makeDocumentId('ses', ['transcript', ownerId, runName, sourceSessionId]),
    kind: 'production',
    ownerId,
    status: evals.length > 0 ? 'evaluating' : 'completed',
    startedAtMs,
    endedAtMs: startedAtMs,
    runName,
    sourceSessionId,
    simulation: undefined,
    agent: undefined,
    scenario: undefined,
    persona: undefined,
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
