import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import { startSweeper, type Sweeper, type SweeperOptions } from '../background/sweeper.ts';
import { repeatWithPauses } from '../background/writer-pause.ts';
import type { Store } from '../store/store.ts';

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
 * Starts to remove the spans of old conversations, and to prepare the partitions of new ones, once an
 * hour. Resolves after the first partitions were created, so that the first spans are in the
 * partition of their day.
 */
export async function startSpanRemover(deps: SpanRemoverDeps): Promise<Sweeper> {
  const { clock, log } = deps;
  const { createPartitions, sweepOnce } = createSweep(deps);
  const { sweeper, prepared } = startSweeper({
    clock,
    log,
    worker: 'span_remover',
    failureEvent: 'span_removal_failed',
    intervalMs: SWEEP_INTERVAL_MS,
    prepare: createPartitions,
    sweepOnce,
  });
  // Without partitions, for example while a backup locks the table, spans are stored, too.
  await prepared;
  return sweeper;
}

function createSweep(
  deps: SpanRemoverDeps,
): Pick<SweeperOptions, 'sweepOnce'> & { createPartitions: () => Promise<void> } {
  const { clock, log, retentionMs } = deps;
  const { owners, retention, spanPartitions } = deps.store;
  let areTablesFixed = false;
  const createPartitions = async (): Promise<void> => {
    if (!spanPartitions || areTablesFixed) return;
    areTablesFixed = !(await spanPartitions.create(clock.nowMs()));
    // Without a retention, spans are not deleted, so partitions would not help.
    if (!areTablesFixed || retentionMs === undefined) return;
    log.warn('span_partitions_missing', {
      warning:
        'The role in the database URL may not create tables, so spans are not stored in a partition for each day. ' +
        'Old spans are deleted row by row, which is slower. To drop partitions instead, use the role that owns the tables.',
    });
  };
  const repeat = (signal: AbortSignal, removeBatch: () => Promise<boolean>): Promise<boolean> =>
    repeatWithPauses(signal, removeBatch, BATCHES_PER_SWEEP_MAX);
  const removeSpans = async (keptMs: number, signal: AbortSignal): Promise<void> => {
    const atMs = clock.nowMs();
    const receivedBeforeMs = atMs - keptMs;
    const ownerIds = await owners.listIds();
    let isComplete = true;
    for (const ownerId of ownerIds) {
      const isDone = await repeat(signal, () =>
        retention.removeSpans(ownerId, { receivedBeforeMs, atMs }),
      );
      isComplete &&= isDone;
    }
    // The spans in a partition tell which ids to delete.
    if (!spanPartitions || !isComplete) return;
    const count = await spanPartitions.drop(receivedBeforeMs);
    if (count > 0) log.info('span_partitions_dropped', { count });
    for (const ownerId of ownerIds) {
      await repeat(signal, () => spanPartitions.deleteOutside(ownerId, receivedBeforeMs));
    }
  };
  return {
    createPartitions,
    async sweepOnce(signal) {
      await createPartitions();
      if (retentionMs !== undefined) await removeSpans(retentionMs, signal);
    },
  };
}
