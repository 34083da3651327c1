import type { ChatRequest, UserCreateRequest } from '../../contract/index.ts';
import { healthTimeoutMs, isMessage } from '../../contract/index.ts';
import { httpDateMs, type Clock } from '../../platform/clock.ts';
import { readReply } from './read-reply.ts';
import { openHttp, type Answer, type Outgoing, type SandboxOptions } from './sandbox-http.ts';
import { SessionFault, type AgentReply } from './simulated-session.ts';

/** A sandbox as a session needs it. What goes wrong is a SessionFault, or the signal's reason. */
export interface Sandbox {
  /** Whether it says that it is healthy, or degraded, within 10 s (spec 4.6, 8). */
  health(signal: AbortSignal): Promise<void>;
  /** False where there is no such endpoint, which is optional (spec 4.7). */
  createUser(user: UserCreateRequest, signal: AbortSignal): Promise<boolean>;
  chat(request: ChatRequest, timeoutMs: number, signal: AbortSignal): Promise<AgentReply>;
  /** A note on why it is still there; undefined when it is gone, or there is no such endpoint. */
  deleteUser(userId: string): Promise<string | undefined>;
  close(): Promise<void>;
}

const userTimeoutMs = 10_000;
const retriesMax = 5;
const firstWaitMs = 500;
/** The longest wait that a sandbox may ask for by Retry-After. */
const retryAfterMsMax = 60_000;
const absentStatuses = [404, 405, 501];

/** The client's side of area B. A request is sent again after a 429 alone (spec 7). */
export function openSandbox(options: SandboxOptions): Sandbox {
  const { clock, apiKey } = options;
  const http = openHttp(options);
  const auth = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  const json = { 'content-type': 'application/json', accept: 'application/json', ...auth };

  /** Sends, and after a 429 again when the sandbox wants. */
  const send = async (what: Outgoing, timeoutMs: number, signal: AbortSignal): Promise<Answer> => {
    for (let tries = 1; ; tries += 1) {
      const answer = await http.send(what, timeoutMs, signal);
      if (answer.status !== 429) return answer;
      const waitMs = retryAfterMs(answer, clock) ?? firstWaitMs * 2 ** (tries - 1);
      if (tries > retriesMax) throw limited(`${tries} times`);
      if (waitMs > retryAfterMsMax) throw limited(`and wants ${Math.ceil(waitMs / 1000)} s`);
      await clock.sleep(waitMs, signal);
    }
  };
  const create = (user: UserCreateRequest, signal: AbortSignal): Promise<Answer> =>
    send(
      { method: 'POST', path: '/users', headers: json, body: JSON.stringify(user) },
      userTimeoutMs,
      signal,
    );
  const remove = (userId: string, signal: AbortSignal): Promise<Answer> =>
    send({ method: 'DELETE', path: `/users/${userId}`, headers: auth }, userTimeoutMs, signal);

  return {
    async health(signal) {
      const headers = { accept: 'application/json' };
      const asked = { method: 'GET', path: '/health', headers } as const;
      const answer = await asInfrastructure(http.send(asked, healthTimeoutMs, signal), signal);
      assertHealthy(answer);
    },
    async createUser(user, signal) {
      let answer = await asInfrastructure(create(user, signal), signal);
      if (isTaken(answer)) {
        // Left behind by an earlier run of the same seed.
        await asInfrastructure(remove(user.user_id, signal), signal);
        answer = await asInfrastructure(create(user, signal), signal);
      }
      if (absentStatuses.includes(answer.status)) return false;
      if (answer.status >= 200 && answer.status < 300) return true;
      throw new SessionFault('infrastructure_error', `POST /users answered ${answer.status}.`);
    },
    async chat(request, timeoutMs, signal) {
      const body = JSON.stringify(request);
      const path = '/v1/chat/completions';
      return readReply(
        await send({ method: 'POST', path, headers: json, body }, timeoutMs, signal),
      );
    },
    async deleteUser(userId) {
      using deadline = clock.deadline(userTimeoutMs);
      try {
        const { status } = await remove(userId, deadline.signal);
        const isGone = (status >= 200 && status < 300) || absentStatuses.includes(status);
        return isGone ? undefined : `The user was not deleted: DELETE answered ${status}.`;
      } catch (error) {
        const why = error instanceof SessionFault ? error.message : 'it took too long.';
        return `The user was not deleted: ${why}`;
      }
    },
    close: () => http.close(),
  };
}

const limited = (how: string): SessionFault =>
  new SessionFault('infrastructure_error', `The sandbox limits the rate (429), ${how}.`);

/** Before the conversation, a sandbox that is late or hangs up is not ready, whatever else it is. */
async function asInfrastructure(came: Promise<Answer>, signal: AbortSignal): Promise<Answer> {
  try {
    return await came;
  } catch (error) {
    if (signal.aborted || !(error instanceof SessionFault)) throw error;
    throw new SessionFault('infrastructure_error', error.message);
  }
}

function assertHealthy({ status, json }: Answer): void {
  const said = isMessage('Health', json) ? json.status : undefined;
  if (status === 200 && (said === 'healthy' || said === 'degraded')) return;
  const what = said === undefined ? 'without a health status' : `with status ${said}`;
  throw new SessionFault('infrastructure_error', `GET /health answered ${status} ${what}.`);
}

function isTaken({ status, json }: Answer): boolean {
  if (status < 400 || !isMessage('SandboxError', json)) return false;
  return json.error.code === 'user_exists';
}

/** Retry-After as seconds or as a date; undefined when there is none that can be read. */
function retryAfterMs({ retryAfter }: Answer, clock: Clock): number | undefined {
  if (retryAfter === undefined) return undefined;
  if (/^\d{1,9}(\.\d{1,9})?$/.test(retryAfter)) return Number(retryAfter) * 1000;
  const atMs = httpDateMs(retryAfter);
  return atMs === undefined ? undefined : Math.max(0, atMs - clock.nowMs());
}
