import type { FastifyInstance } from 'fastify';
import type { EvalDefinition, TranscriptUpload } from '../../contract/index.ts';
import { isoTime, type Clock } from '../../shared/clock.ts';
import { liveEvals } from '../live-evals.ts';
import type { Store } from '../store/store.ts';
import { asMessage } from '../wire.ts';
import { checkKnown } from './evals.ts';
import { readInstant } from './read-instant.ts';
import type { Owners } from './owners.ts';
import type { MakeId } from '../ids.ts';

/** What transcripts are taken in with. */
export interface TranscriptDeps {
  store: Store;
  clock: Clock;
  makeId: MakeId;
  /** Told that there is something to score. */
  wake: () => void;
}

/** What became of a transcript. */
export interface TakenTranscript {
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
    const upload = asMessage('TranscriptUpload', request.body);
    return takeTranscript(deps, await deps.owners.namedOrNew(request), upload);
  });
}

/**
 * Keeps a transcript and queues its evals: the ones that it names, else the live set. Given again
 * within the same run, it replaces what was there. @throws Refusal `bad_request`.
 */
export async function takeTranscript(
  deps: TranscriptDeps,
  ownerId: string,
  upload: TranscriptUpload,
): Promise<TakenTranscript> {
  const { store, clock } = deps;
  const evals = await evalsFor(store, ownerId, upload.evals);
  const startedAtMs = readInstant('/started_at', upload.started_at) ?? clock.nowMs();
  const run = upload.run ?? `${runNameDefault} ${isoTime(startedAtMs).slice(0, 10)}`;
  const id = deps.makeId('ses', ['transcript', ownerId, run, upload.session_id]);
  await store.sessions.add({
    id,
    kind: 'production',
    ownerId,
    status: evals.length > 0 ? 'evaluating' : 'completed',
    startedAtMs,
    endedAtMs: startedAtMs,
    runName: run,
    sourceSessionId: upload.session_id,
    simulation: undefined,
    agent: undefined,
    scenario: undefined,
    persona: undefined,
    endReason: undefined,
    metadata: upload.metadata,
    turns: upload.turns.map((turn, index) => ({
      sequence: index + 1,
      userInput: turn.user_input,
      userReason: undefined,
      agentResponse: turn.agent_response,
      evaluationMetadata: turn.evaluation_metadata,
    })),
    outcomes: [],
    evals,
  });
  if (evals.length > 0) deps.wake();
  return { session_id: upload.session_id, id, run, evaluations_queued: evals.length };
}

async function evalsFor(
  store: Store,
  ownerId: string,
  ids: readonly string[] | undefined,
): Promise<EvalDefinition[]> {
  if (ids === undefined) return (await liveEvals(store.evals, ownerId)).evals;
  const known = await store.evals.list(ownerId);
  checkKnown(
    ids,
    known.map(({ id }) => id),
  );
  return known.filter(({ id }) => ids.includes(id));
}
