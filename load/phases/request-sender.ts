import type { Clock } from '../../src/platform/clock.ts';
import type { ExchangeResult, Transport } from '../engines/transport.ts';
import { TRACEPARENT, traceIdOf } from '../../src/platform/trace-context.ts';
import { withHeaders } from '../engines/transport.ts';
import type { CreateHeaders } from '../profiles/profile.ts';
import type { FollowUp, PlannedRequest } from '../profiles/planned-request.ts';
import type { ValidatedResult } from '../profiles/validate-response.ts';
import type { Recorder } from '../record/recorder.ts';
import type { CompletedRequest } from '../record/stream-log.ts';
import { createDeferredWork, type DeferredWork } from './deferred-work.ts';

/** Sends the requests of a run and handles their results. */
export interface RequestSender {
  /** Sends a request that was due at `dueMs`, relative to the start of the steady state. */
  send(request: PlannedRequest, dueMs: number): void;
  /** Sends no more requests except for cleanup. */
  stopSending(): void;
  /** Resolves when no request is in flight and all responses are validated. */
  drained(): Promise<void>;
  /** Ignores the requests in flight; their results are not recorded. */
  abandon(): void;
  /** Requests that were due but not sent because too many were in flight. */
  readonly missed: number;
}

/** Dependencies of a request sender. */
export interface RequestSenderParts {
  clock: Clock;
  transport: Transport;
  recorder: Recorder;
  createHeaders: CreateHeaders;
  /** Removes secrets that the sandbox repeats from the text of a failure. */
  redact: (text: string) => string;
  validate: (request: PlannedRequest, result: ExchangeResult) => ValidatedResult;
  /** The monotonic start of the steady state. */
  windowStartMs: number;
  /** Called with every validated result. */
  onResult: (result: ValidatedResult) => void;
}

/** More sockets than one process gets. Requests beyond it are not sent, which makes the run invalid. */
const IN_FLIGHT_MAX = 20_000;
const POLL_MS = 5;

/** Creates the request sender of a run. */
export function createRequestSender(parts: RequestSenderParts): RequestSender {
  return new Sender(parts);
}

class Sender implements RequestSender {
  readonly #parts: RequestSenderParts;
  readonly #later: DeferredWork;
  #inFlight = 0;
  #missed = 0;
  #stopped = false;
  #abandoned = false;

  constructor(parts: RequestSenderParts) {
    this.#parts = parts;
    this.#later = createDeferredWork(parts.clock);
  }

  get missed(): number {
    return this.#missed;
  }

  send(request: PlannedRequest, dueMs: number): void {
    const { clock, transport, recorder, windowStartMs, createHeaders } = this.#parts;
    const { stream } = request;
    const headers = createHeaders(request.name);
    const traceId = traceIdOf(headers[TRACEPARENT]);
    const outgoing = withHeaders(request.outgoing, headers);
    const isRecorded = request.unjudged !== true;
    if (isRecorded) recorder.offered(stream, dueMs);
    if (this.#inFlight >= IN_FLIGHT_MAX) {
      this.#missed++;
      return;
    }
    this.#inFlight++;
    if (isRecorded) recorder.sent(stream, dueMs, clock.monotonicMs() - windowStartMs);
    transport.send(outgoing, windowStartMs + dueMs + request.deadlineMs, (result) => {
      if (this.#abandoned) return;
      if (isRecorded) recorder.arrived(stream, result.endedMs - windowStartMs);
      this.#later.add(() => this.#finish(request, dueMs, result, traceId));
    });
  }

  stopSending(): void {
    this.#stopped = true;
  }

  abandon(): void {
    this.#abandoned = true;
    this.#stopped = true;
  }

  async drained(): Promise<void> {
    // Every request ends by its deadline, so this loop ends.
    while (this.#inFlight > 0 && !this.#abandoned) await this.#parts.clock.sleep(POLL_MS);
    await this.#later.done();
  }

  #finish(
    request: PlannedRequest,
    dueMs: number,
    result: ExchangeResult,
    traceId: string | undefined,
  ): void {
    const validated = this.#parts.validate(request, result);
    const { stream, session } = request;
    if (request.unjudged !== true) {
      const details = {
        detail: this.#parts.redact(validated.detail),
        ...(session === undefined ? {} : { session }),
        traceId,
      };
      const completed = this.#toCompleted(request, dueMs, result, validated);
      this.#parts.recorder.completed(stream, completed, details);
      this.#parts.onResult(validated);
    }
    const next = request.next?.(validated.fault === undefined ? validated.json : undefined);
    if (next) void this.#follow(next, result.endedMs);
    this.#inFlight--;
  }

  #toCompleted(
    { deadlineMs }: PlannedRequest,
    dueMs: number,
    { sentMs, firstByteMs, endedMs }: ExchangeResult,
    { fault, hasResponse, findings, echoed, retryAfterS }: ValidatedResult,
  ): CompletedRequest {
    const { windowStartMs } = this.#parts;
    return {
      dueMs,
      sentMs: sentMs - windowStartMs,
      ...(firstByteMs === undefined ? {} : { firstByteMs: firstByteMs - windowStartMs }),
      endedMs: endedMs - windowStartMs,
      deadlineMs,
      hasResponse,
      findings,
      echoed,
      ...(fault && { fault }),
      ...(retryAfterS === undefined ? {} : { retryAfterS }),
    };
  }

  async #follow({ request, afterMs, isCleanup }: FollowUp, endedMs: number): Promise<void> {
    const { clock, windowStartMs } = this.#parts;
    const maySend = (): boolean => !this.#stopped || isCleanup === true;
    if (!maySend()) return;
    // Deferred validation must not count as send lag of the next request.
    const dueMs = Math.max(endedMs + afterMs, clock.monotonicMs());
    if (afterMs > 0) await clock.sleep(dueMs - clock.monotonicMs());
    if (maySend()) this.send(request, dueMs - windowStartMs);
  }
}
