import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AgentFault, Health } from '../src/contract/index.ts';
import { RequestError } from './errors.ts';
import { parseFault, type FaultRoute, type FaultInjector } from './faults.ts';
import type { Authentication } from './authentication.ts';
import { JSON_CONTENT_TYPE } from './wire.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** What a health check has to say of the agent. */
    healthStatus: Health['status'];
  }
}

/** The request header that brings a fault of its own, as JSON or in the short form. */
export const FAULT_HEADER = 'x-sandbox-kit-fault';

// A Retry-After that a client can wait for in a test.
const retryAfterSecondsDefault = 1;

/** An `onRequest` hook of fastify that can also be called from another. */
export type FaultHook = (
  request: FastifyRequest,
  reply: FastifyReply,
  done: (error?: Error) => void,
) => void;

/** What the hook needs. */
export interface FaultHookDeps {
  faults: FaultInjector;
  authentication: Authentication;
  /** Waits so many milliseconds, or until the agent stops. */
  pause: (ms: number) => Promise<void>;
  /** Told of a request whose connection was dropped: fastify holds it for unanswered. */
  dropped: (request: FastifyRequest, reply: FastifyReply) => void;
}

/** Makes the requests to a route suffer its faults, before their body is read. */
export function faultHook(deps: FaultHookDeps, route: FaultRoute): FaultHook {
  const { faults, authentication, pause, dropped } = deps;
  return (request, reply, done) => {
    const header = request.headers[FAULT_HEADER];
    if (header === undefined && faults.isEmpty()) {
      done();
      return;
    }
    const isHeeded = header !== undefined && authentication.mayInjectFault(request);
    const brought = isHeeded ? parseFault(String(header)) : undefined;
    const { waitMs, fault } = faults.inject(route, brought);
    const showIt = (): void => {
      if (fault?.kind === 'dropped_connection') dropConnection(request, reply);
      else done(fault && show(fault, request, reply));
    };
    if (waitMs === 0) showIt();
    else void pause(waitMs).then(showIt);
  };

  function dropConnection(request: FastifyRequest, reply: FastifyReply): void {
    reply.hijack();
    request.raw.socket.destroy();
    dropped(request, reply);
  }
}

/** What to answer instead, or nothing for a fault that shows in the answer itself. */
function show(
  fault: AgentFault,
  request: FastifyRequest,
  reply: FastifyReply,
): RequestError | undefined {
  if (fault.kind === 'degraded' || fault.kind === 'unhealthy') request.healthStatus = fault.kind;
  if (fault.kind === 'malformed_body') reply.type(JSON_CONTENT_TYPE).serializer(firstHalf);
  return requestErrorOf(fault);
}

/** The refusal that a fault is; undefined for one that shows in another way. */
export function requestErrorOf(fault: AgentFault): RequestError | undefined {
  const { kind, retry_after_s: seconds = retryAfterSecondsDefault } = fault;
  if (kind === 'rate_limit') {
    const message = `too many requests; try again in ${seconds} s`;
    return new RequestError('rate_limit_exceeded', message, { 'retry-after': String(seconds) });
  }
  if (kind === 'server_error') {
    return new RequestError('server_error', 'a server_error fault is set on this agent');
  }
  if (kind === 'health_check_failed') {
    return new RequestError('health_check_failed', 'the health check itself failed');
  }
  return undefined;
}

/** The first half of an answer's JSON, which never parses: every answer is an object. */
function firstHalf(payload: unknown): string {
  const text = JSON.stringify(payload);
  return text.slice(0, Math.floor(text.length / 2));
}
