import type { Connections, WriteTransaction } from './connections.ts';

/** The levels of a call, and when the user spoke. Times count from the start of the recording. */
export interface CallSummary {
  durationMs: number;
  /** The time that each level covers. */
  levelMs: number;
  /** Peaks of both sides, from 0 to 100. */
  user: readonly number[];
  agent: readonly number[];
  /** The spoken lines of the user. */
  lines: readonly { turn: number; startMs: number; endMs: number }[];
}

/** A recording to add. */
export interface NewRecording {
  /** An Ogg file; undefined if the audio can't be played. */
  audio: Buffer | undefined;
  summary: CallSummary;
}

/** A recording without its audio. */
export interface Recording {
  summary: CallSummary;
  hasAudio: boolean;
}

/** The most bytes of recordings that are kept for an owner. */
const OWNER_BYTES_MAX = 268_435_456;
/** A longer recording is kept without its audio: about an hour. */
const AUDIO_BYTES_MAX = 33_554_432;

/** Creates the store of the recordings of simulated calls. They are deleted with their sessions. */
export function createRecordingStore(
  { reader, writeAlone }: Connections,
  ownerBytesMax = OWNER_BYTES_MAX,
) {
  const select = (ownerId: string, sessionId: string) =>
    reader(ownerId)
      .selectFrom('recordings')
      .innerJoin('sessions', 'sessions.key', 'recordings.session_key')
      .where('sessions.owner_id', '=', ownerId)
      .where('sessions.id', '=', sessionId);
  return {
    /** Adds the recording of a session, and deletes the oldest ones beyond the limit of the owner. */
    add: (ownerId: string, sessionId: string, recording: NewRecording): Promise<void> =>
      writeAlone(ownerId, (db) => add(db, { ownerId, sessionId, ...recording, ownerBytesMax })),
    async find(ownerId: string, sessionId: string): Promise<Recording | undefined> {
      const row = await select(ownerId, sessionId)
        .select(['summary', 'audio_bytes'])
        .executeTakeFirst();
      return (
        row && {
          summary: JSON.parse(row.summary) as CallSummary,
          hasAudio: row.audio_bytes > 0,
        }
      );
    },
    /** Returns the audio as an Ogg file. */
    async readAudio(ownerId: string, sessionId: string): Promise<Buffer | undefined> {
      const row = await select(ownerId, sessionId).select('audio').executeTakeFirst();
      return row?.audio ?? undefined;
    },
  };
}

interface AddRequest extends NewRecording {
  ownerId: string;
  sessionId: string;
  ownerBytesMax: number;
}

async function add(
  db: WriteTransaction,
  { ownerId, sessionId, audio, summary, ownerBytesMax }: AddRequest,
): Promise<void> {
  const session = await db
    .selectFrom('sessions')
    .select('key')
    .where('owner_id', '=', ownerId)
    .where('id', '=', sessionId)
    .executeTakeFirst();
  if (!session) return;
  const kept = audio && audio.length <= AUDIO_BYTES_MAX ? audio : null;
  const row = {
    owner_id: ownerId,
    summary: JSON.stringify(summary),
    audio: kept,
    audio_bytes: kept?.length ?? 0,
  };
  await db
    .insertInto('recordings')
    .values({ session_key: session.key, ...row })
    .onConflict((conflict) => conflict.column('session_key').doUpdateSet(row))
    .execute();
  await deleteOldest(db, ownerId, ownerBytesMax);
}

/** Deletes the oldest recordings of an owner until the others fit. */
async function deleteOldest(
  db: WriteTransaction,
  ownerId: string,
  bytesMax: number,
): Promise<void> {
  const rows = await db
    .selectFrom('recordings')
    .select(['session_key', 'audio_bytes'])
    .where('owner_id', '=', ownerId)
    .orderBy('session_key', 'desc')
    .execute();
  let bytes = 0;
  const tooOld = rows.filter(({ audio_bytes: size }) => (bytes += size) > bytesMax);
  for (const { session_key: key } of tooOld) {
    await db.deleteFrom('recordings').where('session_key', '=', key).execute();
  }
}
