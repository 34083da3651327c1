import type { Pool } from 'undici';
import { DeadlinePassed, type Clock } from '../../platform/clock.ts';
import { limitedBy } from './limited-by.ts';
import { SessionFault } from './simulated-session.ts';

/** How a sandbox is reached. */
export interface SandboxOptions {
  /** Base address; paths are appended to it. */
  url: string;
  apiKey?: string | undefined;
  /** PEM of a CA to trust besides the system's. */
  ca?: string | undefined;
  /** Connections at a time, at most. */
  connections: number;
  /** The machine's clock: a sandbox lives in real time. */
  clock: Clock;
}

/** A request as it goes out. */
export interface Outgoing {
  method: 'GET' | 'POST' | 'DELETE';
  path: string;
  headers: Record<string, string>;
  body?: string;
}

/** What came back. */
export interface Answer {
  status: number;
  retryAfter: string | undefined;
  /** Its media type, `text/html`; undefined where it tells none that can be read. */
  contentType: string | undefined;
  /** The body as JSON; undefined when it is none. */
  json: unknown;
  latencyMs: number;
}

/** Sends a request once. */
export interface SandboxHttp {
  /** @throws SessionFault, or the signal's reason when it is aborted. */
  send(outgoing: Outgoing, timeoutMs: number, signal: AbortSignal): Promise<Answer>;
  close(): Promise<void>;
}

const bodyBytesMax = 4 * 1024 * 1024;

/** Idle connections are given up before most servers do, so that few requests meet a closing one. */
const idleMsMax = 1_000;

/**
 * HTTP/1.1 over as many connections as there are sessions at a time. No redirect is followed. The
 * library is loaded with the first request, not when the service starts.
 */
export function openHttp(options: SandboxOptions): SandboxHttp {
  const { url, clock } = options;
  const { origin, pathname } = new URL(url);
  const base = pathname.replace(/\/+$/, '');
  let opened: Promise<Pool> | undefined;
  return {
    async send({ method, path, headers, body }, timeoutMs, signal) {
      signal.throwIfAborted();
      const pool = await (opened ??= openPool(origin, options));
      using until = limitedBy(clock, timeoutMs, signal);
      const startedMs = clock.monotonicMs();
      try {
        const request = { method, path: base + path, headers, body: body ?? null };
        const answer = await pool.request({ ...request, signal: until.signal });
        const text = await answer.body.text();
        const after = answer.headers['retry-after'];
        return {
          status: answer.statusCode,
          retryAfter: typeof after === 'string' ? after.trim() : undefined,
          contentType: mediaType(answer.headers['content-type']),
          json: parsed(text),
          latencyMs: clock.monotonicMs() - startedMs,
        };
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        throw faultOf(error, `${method} ${path.replace(/^(\/users)\/.*/, '$1/{user_id}')}`);
      }
    },
    close: async () => (await opened)?.destroy(),
  };
}

async function openPool(origin: string, { ca, connections }: SandboxOptions): Promise<Pool> {
  const [library, { rootCertificates }] = await Promise.all([import('undici'), import('node:tls')]);
  return new library.Pool(origin, {
    connections,
    pipelining: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
    maxResponseSize: bodyBytesMax,
    keepAliveTimeout: idleMsMax,
    keepAliveMaxTimeout: idleMsMax,
    connect: ca === undefined ? {} : { ca: [...rootCertificates, ca] },
  });
}

/** Without its parameters, and only as far as it is one: it is told to people. */
const mediaType = (header: string | string[] | undefined): string | undefined =>
  typeof header === 'string' ? /^[\w.+-]{1,40}\/[\w.+-]{1,40}/.exec(header)?.[0] : undefined;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Nothing that the sandbox sends is repeated. */
function faultOf(error: unknown, what: string): SessionFault {
  if (error instanceof DeadlinePassed) {
    return new SessionFault('timeout', `${what}: ${error.message}.`);
  }
  const { code = '', name = '' } = rootOf(error);
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') {
    const wrong = `the answer is larger than ${bodyBytesMax} bytes`;
    return new SessionFault('agent_error', `${what}: ${wrong}.`);
  }
  if (name === 'HTTPParserError' || code.startsWith('HPE_')) {
    return new SessionFault('agent_error', `${what}: the answer is not HTTP.`);
  }
  const isUntrusted = /CERT|SELF_SIGNED|UNABLE_TO_(VERIFY|GET)/.test(code);
  const how = isUntrusted ? untrusted : (unreachable[code] ?? 'the connection was dropped');
  return new SessionFault('infrastructure_error', `${what}: ${how}${code && ` (${code})`}.`);
}

/** An error that stands for several, one for each address tried, is told by its first. */
function rootOf(error: unknown): { code?: string; name?: string } {
  if (error instanceof AggregateError && error.errors.length > 0) return rootOf(error.errors[0]);
  return error instanceof Error ? error : {};
}

const untrusted = 'its certificate is not trusted: name its CA, with --ca on the command line';

const unreachable: Partial<Record<string, string>> = {
  ECONNREFUSED: 'the sandbox refuses connections',
  ENOTFOUND: "the sandbox's name does not resolve",
  EAI_AGAIN: "the sandbox's name does not resolve",
  EHOSTUNREACH: 'the sandbox can not be reached',
  ENETUNREACH: 'the sandbox can not be reached',
  UND_ERR_CONNECT_TIMEOUT: 'the sandbox takes no connection',
  ETIMEDOUT: 'the sandbox takes no connection',
};
