import type { Clock } from '../../platform/clock.ts';
import { errorOrigin } from '../../platform/error-origin.ts';
import type { Log } from '../../platform/log.ts';
import { createDatabaseRetry } from '../domain/database-retry.ts';
import { pauseForWriter } from '../operations/writer-pause.ts';
import type { Store } from '../store/store.ts';

/** Removes the spans of old conversations, and prepares the partitions of new ones, once an hour. */
export interface SpanRemover {
  /** Does it now. Sweeps never overlap: a call waits for its turn. */
  sweep(): Promise<void>;
  /** Finishes the batch in progress and stops. */
  stop(): Promise<void>;
}

/** Dependencies of the remover of spans. */
export interface SpanRemoverDeps {
  store: Pick<Store, 'owners' | 'retention' | 'spanPartitions'>;
  clock: Clock;
  log: Log;
  /** How long spans are kept after their conversation began; undefined keeps all. */
  retentionMs: number | undefined;
}

const SWEEP_INTERVAL_MS = 3_600_000;

/** Batches of one owner in one sweep; the next sweep removes the rest. */
const BATCHES_PER_SWEEP_MAX = 20_000;

/**
 * Starts sweeping on the service clock. Resolves after the first partitions were created, so that the
 * first spans are in the partition of their day.
 */
export async function startSpanRemover(deps: SpanRemoverDeps): Promise<SpanRemover> {
  const { clock, log } = deps;
  const stopping = new AbortController();
  const database = createDatabaseRetry(log, 'span_remover');
  const { createPartitions, sweepOnce } = createSweep(deps, stopping.signal);
  let lastSweep = Promise.resolve();

  const sweep = (): Promise<void> => {
    const thisSweep = lastSweep.then(sweepOnce);
    // A failed sweep must not prevent the next one.
    lastSweep = thisSweep.catch(() => undefined);
    return thisSweep;
  };
  const attempt = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work();
      database.reportSuccess();
    } catch (error) {
      if (!database.report(error)) log.error('span_removal_failed', { ...errorOrigin(error) });
    }
  };
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      await attempt(sweep);
      // Rejects only when the remover is stopped.
      await clock.sleep(SWEEP_INTERVAL_MS, stopping.signal).catch(() => undefined);
    }
  };
  // Without partitions, for example while a backup locks the table, spans are stored, too.
  await attempt(createPartitions);
  const running = run();
  return {
    sweep,
    async stop() {
      stopping.abort();
      await running;
      await lastSweep;
    },
  };
}

function createSweep(
  { store: { owners, retention, spanPartitions }, clock, log, retentionMs }: SpanRemoverDeps,
  stopping: AbortSignal,
): { createPartitions: () => Promise<void>; sweepOnce: () => Promise<void> } {
  let areTablesFixed = false;
  const createPartitions = async (): Promise<void> => {
    if (!spanPartitions || areTablesFixed) return;
    areTablesFixed = !(await spanPartitions.create(clock.nowMs()));
    if (!areTablesFixed) return;
    log.warn('span_partitions_missing', {
      warning: 'The role of the database may not create tables. Old spans are deleted row by row.',
    });
  };
  /** Returns whether nothing is left. */
  const repeat = async (removeBatch: () => Promise<boolean>): Promise<boolean> => {
    for (let batch = 0; batch < BATCHES_PER_SWEEP_MAX && !stopping.aborted; batch += 1) {
      if (!(await removeBatch())) return true;
      await pauseForWriter();
    }
    return false;
  };
  const removeSpans = async (keptMs: number): Promise<void> => {
    const atMs = clock.nowMs();
    const receivedBeforeMs = atMs - keptMs;
    const ownerIds = await owners.listIds();
    let isComplete = true;
    for (const ownerId of ownerIds) {
      const isDone = await repeat(() => retention.removeSpans(ownerId, { receivedBeforeMs, atMs }));
      isComplete &&= isDone;
    }
    // The spans in a partition tell which ids to delete.
    if (!spanPartitions || !isComplete) return;
    const count = await spanPartitions.drop(receivedBeforeMs);
    if (count > 0) log.info('span_partitions_dropped', { count });
    for (const ownerId of ownerIds) {
      await repeat(() => spanPartitions.deleteOutside(ownerId, receivedBeforeMs));
    }
  };
  return {
    createPartitions,
    async sweepOnce() {
      await createPartitions();
      if (retentionMs !== undefined) await removeSpans(retentionMs);
    },
  };
}
