import type { EvalDefinition } from '../../contract/index.ts';
import type { Job, JobStore } from '../store/store.ts';

/** Kinds of evals that wait for a model or a thread and therefore need a slot. */
const SLOW_KINDS: readonly EvalDefinition['kind'][] = ['judge', 'regex'];

/** Whether a job needs a slot. */
export const isSlow = ({ definition: { kind } }: Job): boolean => SLOW_KINDS.includes(kind);

/**
 * The most jobs that need no slot and are leased together, and the most at the same time: while the
 * outcomes of some are written, the sessions of others are read.
 */
const QUICK_TAKEN_MAX = 256;
const QUICK_LEASES_MAX = 2 * QUICK_TAKEN_MAX;

/** The most due jobs that are looked at, so that many slow ones do not hide the others. */
const DUE_MAX = 2 * QUICK_TAKEN_MAX;

/** A job that this runner has leased. */
export interface LeasedJob {
  /** The job as it was last taken. */
  job: Job;
  isScoring: boolean;
  /** Aborts the scoring. */
  control: AbortController;
  /** When another runner may take the job unless the lease is renewed. */
  leaseEndsMs: number;
}

/** Where jobs come from and how long a lease lasts. */
export interface LeaseOptions {
  jobs: JobStore;
  /** Name of the lease holder. */
  worker: string;
  leaseMs: number;
  /** The most leased jobs that need a slot. */
  slowMax: number;
}

/**
 * The jobs that a runner has leased. While its process lives, the runner renews their leases, even if the
 * service clock is moved, so that no job is taken while it is being scored. A dead process renews nothing.
 */
export class LeasedJobs {
  readonly #options: LeaseOptions;
  readonly #byId = new Map<number, LeasedJob>();

  constructor(options: LeaseOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#byId.size;
  }

  /** Whether there can be due jobs that are not taken until others end. */
  get isFull(): boolean {
    const { quick, slow } = this.#countRoom();
    return quick <= 0 || slow <= 0;
  }

  list(): LeasedJob[] {
    return [...this.#byId.values()];
  }

  /** Takes due jobs, up to the limits. Renews first; otherwise it could take its own jobs again. */
  async take(nowMs: number): Promise<void> {
    const { jobs, worker, leaseMs } = this.#options;
    await this.#renew(nowMs);
    const room = this.#countRoom();
    if (room.quick <= 0 && room.slow <= 0) return;
    const choose = (due: readonly Job[], taken: readonly Job[]): Job[] => {
      const slowTaken = taken.filter(isSlow).length;
      let slow = room.slow - slowTaken;
      let quick = Math.min(room.quick, QUICK_TAKEN_MAX) - (taken.length - slowTaken);
      return due.filter((job) => (isSlow(job) ? slow-- : quick--) > 0);
    };
    for (const job of await jobs.take(worker, nowMs, leaseMs, DUE_MAX, choose)) {
      this.#add(job, nowMs);
    }
  }

  #countRoom(): { quick: number; slow: number } {
    const slow = this.list().filter(({ job }) => isSlow(job)).length;
    const quick = this.size - slow;
    return { quick: QUICK_LEASES_MAX - quick, slow: this.#options.slowMax - slow };
  }

  /** Forgets a job, unless it was taken again under the same id in the meantime. */
  drop(leased: LeasedJob): void {
    if (this.#byId.get(leased.job.id) === leased) this.#byId.delete(leased.job.id);
  }

  /** Returns when the first lease has to be renewed, or undefined if there are no leases. */
  findRenewalAtMs(): number | undefined {
    const ends = this.list().map(({ leaseEndsMs }) => leaseEndsMs);
    return ends.length === 0 ? undefined : Math.min(...ends) - this.#options.leaseMs / 2;
  }

  async #renew(nowMs: number): Promise<void> {
    const { jobs, worker, leaseMs } = this.#options;
    const dueMs = nowMs + leaseMs / 2;
    const due = this.list().filter(({ leaseEndsMs }) => leaseEndsMs <= dueMs);
    if (due.length === 0) return;
    const untilMs = nowMs + leaseMs;
    await jobs.renew(
      worker,
      due.map(({ job }) => job),
      untilMs,
    );
    for (const leased of due) leased.leaseEndsMs = untilMs;
  }

  #add(job: Job, nowMs: number): void {
    const leaseEndsMs = nowMs + this.#options.leaseMs;
    const known = this.#byId.get(job.id);
    // Another worker had taken the job and this one got it back: the running scoring stays valid.
    if (known) Object.assign(known, { job, leaseEndsMs });
    else {
      const control = new AbortController();
      this.#byId.set(job.id, { job, isScoring: false, control, leaseEndsMs });
    }
  }
}
