import {
  ABSENT_ENDPOINT_STATUSES,
  HEALTH_TIMEOUT_MS,
  isMessage,
  type ChatRequest,
  type UserCreateRequest,
} from '../../../contract/index.ts';
import { readRetryAfterMs, type Clock } from '../../../platform/clock.ts';
import { retry, type Failure } from '../../../platform/retry.ts';
import { createTraceparents, TRACEPARENT, traceIdOf } from '../../../platform/trace-context.ts';
import { COMMAND_CURES } from './cures.ts';
import { readReply } from './read-reply.ts';
import {
  authorize,
  explainHealth,
  HEALTH_REQUEST,
  openHttp,
  postChat,
  postJson,
  type SandboxHttp,
  type SandboxOptions,
  type SandboxResponse,
} from './sandbox-http.ts';
import type { AgentReply } from '../agent-reply.ts';
import { SessionError } from '../session-error.ts';

/** A sandbox as a session uses it. Failures are `SessionError`s or the signal's reason. */
export interface Sandbox {
  /** Checks that the sandbox reports healthy or degraded within 10 s (spec 4.6, 8). */
  checkHealth(signal: AbortSignal): Promise<void>;
  /** Returns false if the sandbox does not have this optional endpoint (spec 4.7). */
  createUser(user: UserCreateRequest, signal: AbortSignal): Promise<boolean>;
  chat(request: ChatRequest, timeoutMs: number, signal: AbortSignal): Promise<AgentReply>;
  /** Returns a note if the user could not be deleted; undefined if it was, or if there is no such endpoint. */
  deleteUser(userId: string, isCanceled: boolean): Promise<string | undefined>;
  /** The trace ids of all requests so far, in order. */
  readonly traceIds: readonly string[];
}

/** Connections to a sandbox, which all sessions of a simulation share. */
export interface SandboxConnections {
  /** Returns the sandbox for the session with this id, which the trace ids derive from. */
  inSession(sessionId: string): Sandbox;
  close(): Promise<void>;
}

const USER_TIMEOUT_MS = 10_000;
/** After a cancellation, somebody waits for the end. */
const CANCELED_TIMEOUT_MS = 2_000;
const RETRIES_MAX = 5;
/** Longest Retry-After that is followed. */
const RETRY_AFTER_MS_MAX = 60_000;

interface Success {
  ok: true;
  response: SandboxResponse;
}

/** Returns a function that sends a request, and sends it again after a 429. */
function retryAfterRateLimit(send: SandboxHttp['send'], clock: Clock): SandboxHttp['send'] {
  const limits = { clock, attemptsMax: 1 + RETRIES_MAX, waitMsMax: RETRY_AFTER_MS_MAX };
  return async (request, timeoutMs, signal) => {
    const attempt = async (): Promise<Success | Failure> => {
      const response = await send(request, timeoutMs, signal);
      if (response.status !== 429) return { ok: true, response };
      const retryAfterMs = readRetryAfterMs(response.retryAfter, clock.nowMs());
      return { ok: false, message: 'rate limited', isTemporary: true, retryAfterMs };
    };
    const tried = await retry({ ...limits, signal }, attempt);
    if (tried.result.ok) return tried.result.response;
    if (tried.isCanceled) throw signal.reason;
    throw rateLimited(
      tried.excessiveWaitMs === undefined
        ? `Gave up after ${tried.attempts} attempts.`
        : `It asks to wait ${Math.ceil(tried.excessiveWaitMs / 1000)} s.`,
    );
  };
}

/** Opens a client of area B. It retries only after a 429 (spec 7). */
export function openSandbox(options: SandboxOptions): SandboxConnections {
  const http = openHttp(options);
  return {
    inSession(sessionId) {
      const createTraceparent = createTraceparents(sessionId);
      const traceIds: string[] = [];
      const send: SandboxHttp['send'] = (request, timeoutMs, signal) => {
        const traceparent = createTraceparent('request');
        traceIds.push(traceIdOf(traceparent) ?? '');
        const headers = { ...request.headers, [TRACEPARENT]: traceparent };
        return http.send({ ...request, headers }, timeoutMs, signal);
      };
      return { ...createSandbox(send, options), traceIds };
    },
    close: () => http.close(),
  };
}

function createSandbox(
  send: SandboxHttp['send'],
  { clock, apiKey, cures = COMMAND_CURES }: SandboxOptions,
): Omit<Sandbox, 'traceIds'> {
  const sendWithRetries = retryAfterRateLimit(send, clock);
  const create = (user: UserCreateRequest, signal: AbortSignal): Promise<SandboxResponse> =>
    sendWithRetries(postJson('/users', user, apiKey), USER_TIMEOUT_MS, signal);
  const remove = (userId: string, signal: AbortSignal): Promise<SandboxResponse> =>
    sendWithRetries(
      { method: 'DELETE', path: `/users/${userId}`, headers: authorize(apiKey) },
      USER_TIMEOUT_MS,
      signal,
    );

  return {
    async checkHealth(signal) {
      const sent = send(HEALTH_REQUEST, HEALTH_TIMEOUT_MS, signal);
      const problem = explainHealth(await asInfrastructure(sent, signal), cures);
      if (problem !== undefined) throw new SessionError('infrastructure_error', problem);
    },
    async createUser(user, signal) {
      let response = await asInfrastructure(create(user, signal), signal);
      if (isDuplicate(response)) {
        // An earlier run with the same random seed left the user behind.
        await asInfrastructure(remove(user.user_id, signal), signal);
        response = await asInfrastructure(create(user, signal), signal);
      }
      if (ABSENT_ENDPOINT_STATUSES.includes(response.status)) return false;
      if (response.status >= 200 && response.status < 300) return true;
      throw new SessionError('infrastructure_error', `POST /users returned ${response.status}.`);
    },
    async chat(request, timeoutMs, signal) {
      const response = await sendWithRetries(postChat(request, apiKey), timeoutMs, signal);
      return readReply(response, { hasKey: apiKey !== undefined, cures });
    },
    async deleteUser(userId, isCanceled) {
      using deadline = clock.deadline(isCanceled ? CANCELED_TIMEOUT_MS : USER_TIMEOUT_MS);
      try {
        const { status } = await remove(userId, deadline.signal);
        const isDeleted =
          (status >= 200 && status < 300) || ABSENT_ENDPOINT_STATUSES.includes(status);
        return isDeleted ? undefined : `The user was not deleted: DELETE returned ${status}.`;
      } catch (error) {
        const reason = error instanceof SessionError ? error.message : 'it took too long.';
        return `The user was not deleted: ${reason}`;
      }
    },
  };
}

const rateLimited = (detail: string): SessionError =>
  new SessionError('infrastructure_error', `The sandbox limits the rate (429). ${detail}`);

/** Before the conversation starts, every failure means that the sandbox is not ready. */
async function asInfrastructure(
  response: Promise<SandboxResponse>,
  signal: AbortSignal,
): Promise<SandboxResponse> {
  try {
    return await response;
  } catch (error) {
    if (signal.aborted || !(error instanceof SessionError)) throw error;
    throw new SessionError('infrastructure_error', error.message);
  }
}

function isDuplicate({ status, json }: SandboxResponse): boolean {
  if (status < 400 || !isMessage('SandboxError', json)) return false;
  return json.error.code === 'user_exists';
}
