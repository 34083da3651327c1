import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AgentFault, Health } from '../src/contract/index.ts';
import type { Authentication } from './authentication.ts';
import { RequestError } from './errors.ts';
import type { FaultInjector } from './fault-injector.ts';
import { parseFault, type FaultRoute } from './faults.ts';
import { JSON_CONTENT_TYPE } from './server.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The status that a health check reports. */
    healthStatus: Health['status'];
  }
}

/** The request header that injects a fault into its request, as JSON or in the short form. */
const FAULT_HEADER = 'x-sandbox-kit-fault';

// Short enough for a client to wait for it in a test.
const RETRY_AFTER_SECONDS_DEFAULT = 1;

/** An `onRequest` hook of Fastify that can also be called from another hook. */
export type FaultHook = (
  request: FastifyRequest,
  reply: FastifyReply,
  done: (error?: Error) => void,
) => void;

/** Dependencies of the fault hooks. */
export interface FaultHookOptions {
  faults: FaultInjector;
  authentication: Authentication;
  /** Waits this many milliseconds, or until the agent stops. */
  pause: (ms: number) => Promise<void>;
  /** Called for a dropped connection, because Fastify runs no `onResponse` hook for it. */
  onDropped: (request: FastifyRequest, reply: FastifyReply) => void;
}

/**
 * Returns the fault that the header of a request injects; undefined without one, and if the request
 * may not inject it. @throws RequestError `bad_request`.
 */
export function readInjectedFault(
  request: Pick<IncomingMessage, 'headers'>,
  authentication: Authentication,
): AgentFault | undefined {
  const header = request.headers[FAULT_HEADER];
  const isAllowed = header !== undefined && authentication.mayInjectFault(request);
  return isAllowed ? parseFault(String(header)) : undefined;
}

/** Creates a hook that injects the faults of a route before the body is read. */
export function createFaultHook(options: FaultHookOptions, route: FaultRoute): FaultHook {
  const { faults, authentication, pause, onDropped } = options;
  return (request, reply, done) => {
    if (request.headers[FAULT_HEADER] === undefined && faults.isEmpty()) {
      done();
      return;
    }
    const { delayMs, fault } = faults.inject(route, readInjectedFault(request, authentication));
    const injectNow = (): void => {
      if (fault?.kind === 'dropped_connection') dropConnection(request, reply);
      else done(fault && applyFault(fault, request, reply));
    };
    if (delayMs === 0) injectNow();
    else void pause(delayMs).then(injectNow);
  };

  function dropConnection(request: FastifyRequest, reply: FastifyReply): void {
    reply.hijack();
    request.raw.socket.destroy();
    onDropped(request, reply);
  }
}

/** Changes the response, or returns the error to respond with instead. */
function applyFault(
  fault: AgentFault,
  request: FastifyRequest,
  reply: FastifyReply,
): RequestError | undefined {
  if (fault.kind === 'degraded' || fault.kind === 'unhealthy') request.healthStatus = fault.kind;
  if (fault.kind === 'malformed_body') {
    reply.type(JSON_CONTENT_TYPE).serializer(serializeFirstHalf);
  }
  return requestErrorOf(fault);
}

/** Returns the error response of a fault; undefined for a fault without one. */
export function requestErrorOf(fault: AgentFault): RequestError | undefined {
  const { kind, retry_after_s: seconds = RETRY_AFTER_SECONDS_DEFAULT } = fault;
  if (kind === 'rate_limit') {
    return new RequestError(
      'rate_limit_exceeded',
      `Too many requests. Try again in ${seconds} s. A rate_limit fault is set on this agent.`,
      { 'retry-after': String(seconds) },
    );
  }
  if (kind === 'server_error') {
    return new RequestError('server_error', 'A server_error fault is set on this agent.');
  }
  if (kind === 'health_check_failed') {
    return new RequestError(
      'health_check_failed',
      'The health check failed. A health_check_failed fault is set on this agent.',
    );
  }
  return undefined;
}

/** Serializes the first half of a response's JSON, which never parses: every response is an object. */
function serializeFirstHalf(payload: unknown): string {
  const text = JSON.stringify(payload);
  return text.slice(0, Math.floor(text.length / 2));
}
