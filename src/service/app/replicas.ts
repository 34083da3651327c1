import type { AdjustableClock } from '../../platform/adjustable-clock.ts';
import { systemClock } from '../../platform/clock.ts';
import { errorOrigin } from '../../platform/error-origin.ts';
import type { Log } from '../../platform/log.ts';
import { randomHex } from '../../platform/random.ts';
import { createDatabaseRetry, type DatabaseRetry } from '../background/database-retry.ts';
import type { SharedState, StateSharing } from '../background/shared-state.ts';
import type {
  ConfiguredKey,
  JoinedReplicas,
  ReplicaMember,
  ReplicaSettings,
  ReplicaStore,
  ReplicaTopic,
  SharedValue,
} from '../store/store.ts';
import { findSettingsDifferences } from './replica-settings.ts';

/** How often a replica reports that it runs, and looks for changes that it was not told about. */
const REPORT_MS = 1_000;
/** How long a change waits for other replicas. */
const APPLIED_MS_MAX = 2_000;
const APPLIED_POLL_MS = 20;

const OTHER_KEYS_WARNING =
  'This replica was started with different keys than a running one. A key works on all replicas as long as ' +
  'one that was started with it runs. Set the same SANDBOX_KIT_SERVICE_API_KEY on every replica.';

/** This process as one of the replicas of a service. */
export interface Replica extends StateSharing {
  /** Tells all replicas to look at something. */
  publish: (topic: ReplicaTopic) => void;
  onPublished: (listener: (topic: ReplicaTopic) => void) => void;
  stop: () => Promise<void>;
}

/** What a replica needs. */
export interface ReplicaOptions {
  replicas: ReplicaStore;
  /** The keys that this process was started with. */
  keys: readonly ConfiguredKey[];
  /** The options of this process that must be the same on all replicas. */
  settings: ReplicaSettings;
  /** The service clock, which shows the same time on all replicas. */
  clock: AdjustableClock;
  log: Log;
}

/** Returns the state of a service whose first replica starts. */
const createState = (): SharedState => ({
  clock: { aheadMs: 0, wallAheadMs: 0 },
  faults: [],
  memoryClears: [],
  requestClears: 0,
  reportedProblems: [],
  pageSecret: randomHex(32),
  endedPageSessions: [],
});

/**
 * Joins the replicas of a service, and applies what they share.
 * @throws KeyTakenError if a key belongs to another owner.
 */
export async function joinReplicas(options: ReplicaOptions): Promise<Replica> {
  const replica = new JoinedReplica(options);
  await replica.start();
  return replica;
}

class JoinedReplica implements Replica {
  readonly #replicas: ReplicaStore;
  readonly #clock: AdjustableClock;
  readonly #log: Log;
  readonly #database: Pick<DatabaseRetry, 'report' | 'reportSuccess'>;
  readonly #member: ReplicaMember;
  readonly #stopping = new AbortController();
  readonly #listeners: ((topic: ReplicaTopic) => void)[] = [];
  readonly #appliers: ((state: SharedState) => void)[] = [];
  #known = { generation: 0, state: createState() };
  /** Changes and reports run one after the other, so that an older state never replaces a newer one. */
  #last: Promise<unknown> = Promise.resolve();
  #reporting: Promise<void> = Promise.resolve();

  constructor({ replicas, keys, settings, clock, log }: ReplicaOptions) {
    this.#replicas = replicas;
    this.#member = { id: randomHex(12), keys, settings };
    this.#clock = clock;
    this.#log = log;
    this.#database = createDatabaseRetry({ log, clock }, 'replica_report');
  }

  async start(): Promise<void> {
    const initial = JSON.stringify(createState());
    const joined = await this.#replicas.join(this.#member, initial);
    this.#warnOfDifferences(joined);
    this.#apply(joined.shared);
    await this.#report();
    this.#replicas.listen((topic) => {
      if (topic === 'state') void this.#report();
      for (const listener of this.#listeners) listener(topic);
    });
    this.#reporting = this.#keepReporting();
  }

  #warnOfDifferences({ haveOthersOtherKeys, othersSettings }: JoinedReplicas): void {
    if (haveOthersOtherKeys) this.#log.warn('replica_keys_differ', { warning: OTHER_KEYS_WARNING });
    const differences = findSettingsDifferences(this.#member.settings, othersSettings);
    for (const { option, here, other } of differences) {
      this.#log.warn('replica_settings_differ', {
        option,
        warning:
          `${option} differs between replicas: it is ${here} on this one and ${other} on a running one. ` +
          'All replicas work on the same data. Start each of them with the same value.',
      });
    }
  }

  publish(topic: ReplicaTopic): void {
    this.#replicas.publish(topic);
  }

  onPublished(listener: (topic: ReplicaTopic) => void): void {
    this.#listeners.push(listener);
  }

  onChange(apply: (state: SharedState) => void): void {
    this.#appliers.push(apply);
    apply(this.#known.state);
  }

  async change(change: (state: SharedState) => void): Promise<void> {
    try {
      await this.#waitUntilApplied(await this.#edit(change, { isNew: true }));
    } catch (error) {
      this.#log.error('replica_change_failed', { ...errorOrigin(error) });
      throw error;
    }
  }

  async adjust(change: (state: SharedState) => void): Promise<void> {
    await this.#edit(change, { isNew: false });
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#reporting;
    // If it can't leave, the others see after some seconds that it has stopped.
    await this.#inTurn(() => this.#replicas.leave(this.#member.id)).catch(() => undefined);
  }

  #inTurn<Result>(run: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(run);
    this.#last = result.catch(() => undefined);
    return result;
  }

  #apply({ generation, value }: SharedValue): void {
    const state = JSON.parse(value) as SharedState;
    this.#known = { generation, state };
    this.#clock.setOffset(state.clock);
    for (const apply of this.#appliers) apply(state);
  }

  /** Reports that this replica runs, and applies what has changed. */
  async #report(): Promise<void> {
    try {
      await this.#inTurn(async () => {
        // A report after it has left would add it again.
        if (this.#stopping.signal.aborted) return;
        const changed = await this.#replicas.report(this.#member, this.#known.generation);
        if (!changed) return;
        this.#apply(changed);
        await this.#replicas.report(this.#member, changed.generation);
      });
      this.#database.reportSuccess();
    } catch (error) {
      if (this.#database.report(error)) return;
      this.#log.error('replica_report_failed', { ...errorOrigin(error) });
    }
  }

  async #keepReporting(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await this.#report();
      await systemClock.sleep(REPORT_MS, signal).catch(() => undefined);
    }
  }

  /** Returns the generation of the state with the change. */
  #edit(change: (state: SharedState) => void, options: { isNew: boolean }): Promise<number> {
    return this.#inTurn(async () => {
      const changed = await this.#replicas.change((value) => {
        const state = JSON.parse(value) as SharedState;
        change(state);
        return JSON.stringify(state);
      }, options);
      this.#apply(changed);
      if (options.isNew) await this.#replicas.report(this.#member, changed.generation);
      return changed.generation;
    });
  }

  async #waitUntilApplied(generation: number): Promise<void> {
    const endMs = systemClock.monotonicMs() + APPLIED_MS_MAX;
    while (!(await this.#replicas.isApplied(generation))) {
      if (systemClock.monotonicMs() > endMs) {
        this.#log.warn('replicas_late', { generation });
        return;
      }
      await systemClock.sleep(APPLIED_POLL_MS);
    }
  }
}
