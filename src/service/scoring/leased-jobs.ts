import type { Job, JobStore } from '../store/store.ts';

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

  list(): LeasedJob[] {
    return [...this.#byId.values()];
  }

  /** Takes due jobs, up to a limit. Renews first; otherwise it could take its own jobs again. */
  async take(nowMs: number, limit: number): Promise<void> {
    const { jobs, worker, leaseMs } = this.#options;
    await this.#renew(nowMs);
    if (limit <= 0) return;
    for (const job of await jobs.take(worker, nowMs, leaseMs, limit)) this.#add(job, nowMs);
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
