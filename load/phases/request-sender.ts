import type { ExchangeResult, Transport } from '../engines/transport.ts';
import type { FollowUp, PlannedRequest } from '../profiles/planned-request.ts';
import type { ValidatedResult } from '../profiles/validate-response.ts';
import { ExchangeLog, type ExchangeLogParts } from './exchange-log.ts';

/** Dependencies of a request sender. */
export interface RequestSenderParts extends Omit<ExchangeLogParts, 'onFinish'> {
  transport: Transport;
}

/** More sockets than one process gets. Requests beyond it are not sent, which makes the run invalid. */
const IN_FLIGHT_MAX = 20_000;
const POLL_MS = 5;

/** Sends the requests of a run and handles their results. */
export class RequestSender {
  readonly #parts: RequestSenderParts;
  readonly #log: ExchangeLog;
  #missed = 0;
  #phase: 'sending' | 'draining' | 'abandoned' = 'sending';

  constructor(parts: RequestSenderParts) {
    this.#parts = parts;
    this.#log = new ExchangeLog({
      ...parts,
      onFinish: (request, result, validated) => this.#sendNext(request, result, validated),
    });
  }

  /** Requests that were due but not sent because too many were in flight. */
  get missed(): number {
    return this.#missed;
  }

  /** Sends a request that was due at `dueMs`, relative to the start of the steady state. */
  send(request: PlannedRequest, dueMs: number): void {
    const { transport, recorder, windowStartMs } = this.#parts;
    if (request.unjudged !== true) recorder.recordDue(request.stream, dueMs);
    if (this.#log.openCount >= IN_FLIGHT_MAX) {
      this.#missed++;
      return;
    }
    const { outgoing, end } = this.#log.begin(request, dueMs);
    transport.send(outgoing, windowStartMs + dueMs + request.deadlineMs, end);
  }

  /** Sends no more requests except for cleanup. */
  stopSending(): void {
    this.#phase = 'draining';
  }

  /** Ignores the requests in flight; their results are not recorded. */
  abandon(): void {
    this.#phase = 'abandoned';
    this.#log.abandon();
  }

  /** Resolves when no request is in flight and all responses are validated. */
  async waitUntilDrained(): Promise<void> {
    // Every request ends by its deadline, so this loop ends.
    while (this.#log.openCount > 0 && this.#phase !== 'abandoned') {
      await this.#parts.clock.sleep(POLL_MS);
    }
    await this.#log.waitUntilValidated();
  }

  #sendNext(
    request: PlannedRequest,
    { endedMs }: ExchangeResult,
    { fault, json }: ValidatedResult,
  ): void {
    const next = request.next?.(fault === undefined ? json : undefined);
    if (next) void this.#follow(next, endedMs);
  }

  async #follow({ request, afterMs, isCleanup }: FollowUp, endedMs: number): Promise<void> {
    const { clock, windowStartMs } = this.#parts;
    const maySend = (): boolean => this.#phase === 'sending' || isCleanup === true;
    if (!maySend()) return;
    // Deferred validation must not count as send lag of the next request.
    const dueMs = Math.max(endedMs + afterMs, clock.monotonicMs());
    if (afterMs > 0) await clock.sleep(dueMs - clock.monotonicMs());
    if (maySend()) this.send(request, dueMs - windowStartMs);
  }
}
