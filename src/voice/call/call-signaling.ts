import type { WebSocket } from 'ws';
import { voiceChannel } from '../../contract/index.ts';
import { DeadlinePassed, type Clock } from '../../platform/clock.ts';
import { secretsOf } from '../../platform/connection.ts';
import { createRedactor } from '../../platform/redaction.ts';
import { CallError } from './call-error.ts';
import { createAnswerMessage, readCandidate, parseMessage, type CallMessage } from './messages.ts';
import { openSocket, type SocketOutcome } from './open-socket.ts';
import type { VoiceTarget } from './voice-target.ts';
import { firstError, isLocalShortage } from '../../platform/error-origin.ts';

const OPEN_MS_MAX = 10_000;
/** The specification sets no timeout for `call_ready`; a person would have hung up by then. */
const READY_MS_MAX = 15_000;
const CLOSE_MS_MAX = 2_000;
/** A sandbox usually closes the WebSocket this soon after an error message. */
const CLOSE_AFTER_ERROR_MS_MAX = 500;
const DETAIL_LENGTH_MAX = 200;
const MESSAGES_MAX = 2_000;
const TOO_MANY_CALLS_CODE = 4429;

/** The caller's side of the signaling of one call. */
export class CallSignaling {
  readonly #clock: Clock;
  readonly #target: VoiceTarget;
  /** A sandbox may repeat a secret in a message, which reports quote. */
  readonly #redact: (text: string) => string;
  #socket: WebSocket | undefined;
  #messages = 0;
  readonly #ready = Promise.withResolvers<CallMessage>();
  readonly #closed = Promise.withResolvers<undefined>();
  #ids: CallMessage = {};
  #isOver = false;
  #isReady = false;
  #error = '';
  /** The local address that reached the sandbox. */
  localAddress = '';
  /** The address of the sandbox; undefined behind a proxy. */
  remoteAddress: string | undefined;
  /** Called once when the sandbox ends the call. */
  onEnd: (error: CallError) => void = () => {};
  onCandidate: (candidate: string) => void = () => {};
  /** Called for each valid message. */
  onMessage: (message: CallMessage) => void = () => {};

  constructor(clock: Clock, target: VoiceTarget) {
    this.#clock = clock;
    this.#target = target;
    this.#redact = createRedactor(secretsOf(target.connection, target.apiKey));
    // `start` may never be called, so an unhandled rejection must not end the process.
    this.#ready.promise.catch(() => undefined);
  }

  /** Opens the WebSocket. @throws CallError. */
  async open(): Promise<void> {
    const { url, apiKey, ca, connection, headers: more } = this.#target;
    const headers = {
      ...connection?.headers,
      ...more,
      'sec-websocket-protocol': voiceChannel.protocol,
      ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
    };
    const request = { url, headers, ca, connection, deadlineMs: OPEN_MS_MAX };
    const outcome = await openSocket(request, this.#clock, {
      onMessage: (data) => this.#handleMessage(this.#redact(data.toString('utf8'))),
      onClose: (code, reason) => this.#end(code, reason),
    });
    if (!outcome.socket) throw createRefusalError(outcome);
    if (this.#isOver) outcome.socket.terminate();
    this.#socket = outcome.socket;
    this.localAddress = outcome.localAddress ?? '';
    this.remoteAddress = outcome.remoteAddress;
  }

  /** Requests a call with the fields of `start_call`, and returns `call_ready`. @throws CallError. */
  async start(fields: CallMessage): Promise<CallMessage> {
    this.send({ type: 'start_call', ...fields });
    using deadline = this.#clock.deadline(READY_MS_MAX);
    deadline.signal.addEventListener('abort', () => {
      const message = `no call_ready within ${READY_MS_MAX / 1000} s of start_call`;
      this.#ready.reject(new CallError('no_offer', message));
    });
    return await this.#ready.promise;
  }

  /** Answers the offer of a `call_ready` message. */
  answer(ready: CallMessage, sdp: string): void {
    const { call_id, session_id } = ready;
    this.#ids = { ...(session_id !== undefined && { session_id }), call_id };
    this.send(createAnswerMessage(ready, sdp, this.#target.answerForm));
  }

  /** Hangs up, and waits for the sandbox to close its side. Returns whether it did. */
  async hangUp(msMax = CLOSE_MS_MAX): Promise<boolean> {
    this.#isOver = true;
    this.#ready.reject(new CallError('local', 'the run is over'));
    const socket = this.#socket;
    if (!socket) return true;
    this.send({ type: 'end_call', ...this.#ids });
    socket.close(1000);
    const over = new AbortController();
    const timeout = this.#clock.sleep(msMax, over.signal).catch(() => undefined);
    const isClosed = await Promise.race([
      this.#closed.promise.then(() => true),
      timeout.then(() => false),
    ]);
    over.abort(new Error('closed'));
    socket.terminate();
    return isClosed;
  }

  /** The ids of the call, as sent in `call_ready`. */
  get ids(): CallMessage {
    return this.#ids;
  }

  /** The last error that the sandbox sent; empty if it sent none. */
  get error(): string {
    return this.#error;
  }

  send(message: CallMessage): void {
    this.#socket?.send(JSON.stringify(message), () => {
      // Sending fails only if the WebSocket is closed, which is reported separately.
    });
  }

  #handleMessage(text: string): void {
    this.#messages += 1;
    const message = this.#messages > MESSAGES_MAX ? undefined : parseMessage(text);
    if (!message) return;
    const { type } = message;
    if (type === 'call_ready') {
      this.#isReady = true;
      this.#ready.resolve(message);
    }
    if (type === 'error') void this.#handleError(formatError(message));
    const candidate = type === 'ice_candidate' ? readCandidate(message) : undefined;
    if (candidate !== undefined) this.onCandidate(candidate);
    this.onMessage(message);
  }

  /**
   * An error is usually followed by a close frame with a more specific code, so this waits for it.
   * Before the offer, an error ends the call in any case; after it, the call may continue.
   */
  async #handleError(error: string): Promise<void> {
    this.#error = error;
    await this.#clock.sleep(CLOSE_AFTER_ERROR_MS_MAX).catch(() => undefined);
    if (!this.#isReady) this.#fail(new CallError('call_error', error));
  }

  #end(code: number, reason: string): void {
    this.#closed.resolve(undefined);
    const kind =
      code === TOO_MANY_CALLS_CODE
        ? 'too_many_calls'
        : this.#error === ''
          ? 'dropped'
          : 'call_error';
    const details = [this.#error, reason.slice(0, DETAIL_LENGTH_MAX)].filter(Boolean);
    const message = `the sandbox closed the WebSocket (${[code, ...details].join(', ')})`;
    this.#fail(new CallError(kind, message, code));
  }

  #fail(error: CallError): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#ready.reject(error);
    this.onEnd(error);
  }
}

function formatError({ error }: CallMessage): string {
  const { code, message } = (
    typeof error === 'object' && error !== null ? error : {}
  ) as CallMessage;
  const words = [code, message].filter((word) => typeof word === 'string');
  return ['error', ...words].join(' ').slice(0, DETAIL_LENGTH_MAX);
}

function createRefusalError({ response, error }: SocketOutcome): CallError {
  if (error instanceof DeadlinePassed) {
    return new CallError('unreachable', `the WebSocket did not open: ${error.message}`);
  }
  if (error !== undefined || !response) {
    const { code = '', message } = firstError(error ?? new Error('no response'));
    const detail = message || code || 'no response';
    const kind = isLocalShortage(code) ? 'local' : 'unreachable';
    return new CallError(kind, `the WebSocket did not open: ${detail}`);
  }
  const { status } = response;
  const message = `the WebSocket was refused with HTTP ${status}`;
  if (status === 401 || status === 403) return new CallError('unauthorized', message);
  return new CallError(status === 429 ? 'too_many_calls' : 'refused', message);
}
