import type { Clock } from '../../src/platform/clock.ts';
import { TRACEPARENT, traceIdOf } from '../../src/platform/trace-context.ts';
import { withHeaders, type ExchangeResult, type OutgoingRequest } from '../engines/transport.ts';
import type { CreateHeaders } from '../profiles/traffic.ts';
import type { PlannedRequest } from '../profiles/planned-request.ts';
import type { ValidatedResult } from '../profiles/validate-response.ts';
import type { Recorder } from '../record/recorder.ts';
import type { CompletedRequest } from '../record/stream-log.ts';
import { createDeferredWork, type DeferredWork } from './deferred-work.ts';

/** A request that is sent. */
export interface BegunExchange {
  /** The request with its trace context. */
  outgoing: OutgoingRequest;
  end: (result: ExchangeResult) => void;
}

/** Dependencies of an exchange log. */
export interface ExchangeLogParts {
  clock: Clock;
  recorder: Recorder;
  createHeaders: CreateHeaders;
  /** Removes secrets that the sandbox repeats from the text of a failure. */
  redact: (text: string) => string;
  validate: (request: PlannedRequest, result: ExchangeResult) => ValidatedResult;
  /** The monotonic start of the steady state. */
  windowStartMs: number;
  /** Called with every validated result. */
  onResult: (result: ValidatedResult) => void;
  /** Called after each request, with its validated result. */
  onFinish?: (request: PlannedRequest, result: ExchangeResult, validated: ValidatedResult) => void;
}

/** Records requests from the moment they are sent until their results are validated. */
export class ExchangeLog {
  readonly #parts: ExchangeLogParts;
  readonly #deferred: DeferredWork;
  #openCount = 0;
  #abandoned = false;

  constructor(parts: ExchangeLogParts) {
    this.#parts = parts;
    this.#deferred = createDeferredWork(parts.clock);
  }

  /** Requests that are in flight or not validated yet. */
  get openCount(): number {
    return this.#openCount;
  }

  /** Records that a request is sent now; `end` takes its result. Times are relative to the steady state. */
  begin(request: PlannedRequest, dueMs: number): BegunExchange {
    const { clock, recorder, windowStartMs, createHeaders } = this.#parts;
    const { stream } = request;
    const headers = createHeaders(request.name);
    const isRecorded = request.unjudged !== true;
    this.#openCount++;
    if (isRecorded) recorder.recordSend(stream, dueMs, clock.monotonicMs() - windowStartMs);
    return {
      outgoing: withHeaders(request.outgoing, headers),
      end: (result) => {
        if (this.#abandoned) return;
        if (isRecorded) recorder.recordArrival(stream, result.endedMs - windowStartMs);
        const traceId = traceIdOf(headers[TRACEPARENT]);
        this.#deferred.add(() => this.#finish(request, dueMs, result, traceId));
      },
    };
  }

  /** Ignores the requests in flight; their results are not recorded. */
  abandon(): void {
    this.#abandoned = true;
  }

  /** Resolves when all results so far are validated. */
  waitUntilValidated(): Promise<void> {
    return this.#deferred.waitUntilDone();
  }

  #finish(
    request: PlannedRequest,
    dueMs: number,
    result: ExchangeResult,
    traceId: string | undefined,
  ): void {
    const { recorder, validate, redact, onResult, onFinish } = this.#parts;
    const validated = validate(request, result);
    const { stream, session } = request;
    if (request.unjudged !== true) {
      const details = {
        detail: redact(validated.detail),
        ...(session === undefined ? {} : { session }),
        traceId,
      };
      const completed = this.#toCompleted(request, dueMs, result, validated);
      recorder.recordResult(stream, completed, details);
      onResult(validated);
    }
    onFinish?.(request, result, validated);
    this.#openCount--;
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
}
