import type { Pool } from 'undici';
import { findHealthProblem, type ChatRequest } from '../../../contract/index.ts';
import { limitSignal } from '../../../platform/abort.ts';
import { findUrlProblem } from '../../../platform/base-url.ts';
import { DeadlinePassed, type Clock } from '../../../platform/clock.ts';
import { secretsOf, tlsOptionsOf, type Connection } from '../../../platform/connection.ts';
import { parseJson } from '../../../platform/json.ts';
import { ProxyError } from '../../../platform/proxy.ts';
import { createRedactor } from '../../../platform/redaction.ts';
import { lookupSandbox, RESERVED_ADDRESS } from '../../../platform/sandbox-lookup.ts';
import { SessionError } from '../session-error.ts';
import type { SandboxCures } from './cures.ts';
import { firstError } from '../../../platform/error-origin.ts';

/** How to reach a sandbox. */
export interface SandboxOptions {
  /** Base URL; paths are appended to it. */
  url: string;
  apiKey?: string | undefined;
  /** PEM of a CA to trust in addition to the system's. */
  ca?: string | undefined;
  /** Additional headers, client certificate, and proxies. */
  connection?: Connection | undefined;
  /** Maximum number of concurrent connections. */
  connections: number;
  /** What messages advise (default: for people at a terminal). */
  cures?: SandboxCures | undefined;
  /** The system clock: a sandbox lives in real time. */
  clock: Clock;
}

/** A request to the sandbox. */
export interface SandboxRequest {
  method: 'GET' | 'POST' | 'DELETE';
  path: string;
  headers: Record<string, string>;
  body?: string;
}

/** Returns the header with the API key, if there is one. */
export const authorize = (apiKey: string | undefined): Record<string, string> =>
  apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };

/** Returns a request that posts JSON. */
export const postJson = (
  path: string,
  body: object,
  apiKey: string | undefined,
): SandboxRequest => ({
  method: 'POST',
  path,
  headers: {
    'content-type': 'application/json',
    accept: 'application/json',
    ...authorize(apiKey),
  },
  body: JSON.stringify(body),
});

/** The request for the health of a sandbox. */
export const HEALTH_REQUEST: SandboxRequest = {
  method: 'GET',
  path: '/health',
  headers: { accept: 'application/json' },
};

/**
 * Returns why no session can start, and what to do about it, from the response to `HEALTH_REQUEST`;
 * undefined if the sandbox is ready.
 */
export function explainHealth(
  { status, json }: SandboxResponse,
  { health }: SandboxCures,
): string | undefined {
  const problem = findHealthProblem(status, json);
  return problem === undefined ? undefined : `GET /health returned ${problem}. ${health}`;
}

/** Returns the request of a turn by chat (spec 2.7). */
export const postChat = (request: ChatRequest, apiKey: string | undefined): SandboxRequest =>
  postJson('/v1/chat/completions', request, apiKey);

/** A response of the sandbox. */
export interface SandboxResponse {
  status: number;
  retryAfter: string | undefined;
  /** Media type, e.g. `text/html`; undefined if it is absent or unreadable. */
  contentType: string | undefined;
  /** The body as JSON; undefined if it is not JSON. */
  json: unknown;
  latencyMs: number;
}

/** Sends requests without retries. */
export interface SandboxHttp {
  /** @throws SessionError, or the signal's reason when it is aborted. */
  send(request: SandboxRequest, timeoutMs: number, signal: AbortSignal): Promise<SandboxResponse>;
  close(): Promise<void>;
}

const BODY_BYTES_MAX = 4 * 1024 * 1024;

/** Idle connections are closed before most servers close them, so that few requests meet a closing one. */
const IDLE_MS_MAX = 1_000;

/**
 * Opens an HTTP/1.1 client with one connection per concurrent session. It follows no redirects. The library is
 * loaded with the first request, not when the service starts.
 */
export function openHttp(options: SandboxOptions): SandboxHttp {
  const { url, clock } = options;
  const { origin, pathname } = new URL(url);
  const problem = findUrlProblem(url);
  // A sandbox may repeat a secret in a reply, which reports quote.
  const redact = createRedactor(secretsOf(options.connection, options.apiKey));
  const base = pathname.replace(/\/+$/, '');
  let pool: Promise<Pool> | undefined;
  return {
    async send({ method, path, headers, body }, timeoutMs, signal) {
      signal.throwIfAborted();
      if (problem !== undefined) {
        throw new SessionError('infrastructure_error', `The URL of the sandbox ${problem}.`);
      }
      const client = await (pool ??= openPool(origin, options));
      using limit = limitSignal(clock, timeoutMs, signal);
      const startedMs = clock.monotonicMs();
      try {
        const allHeaders = { ...options.connection?.headers, ...headers };
        const request = { method, path: base + path, headers: allHeaders, body: body ?? null };
        const response = await client.request({ ...request, signal: limit.signal });
        const text = redact(await response.body.text());
        const retryAfter = response.headers['retry-after'];
        return {
          status: response.statusCode,
          retryAfter: typeof retryAfter === 'string' ? retryAfter.trim() : undefined,
          contentType: readMediaType(response.headers['content-type']),
          json: parseJson(text),
          latencyMs: clock.monotonicMs() - startedMs,
        };
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        throw toSessionError(error, `${method} ${path.replace(/^(\/users)\/.*/, '$1/{user_id}')}`);
      }
    },
    close: async () => (await pool)?.destroy(),
  };
}

async function openPool(
  origin: string,
  { ca, connection, connections }: SandboxOptions,
): Promise<Pool> {
  const [library, { throughProxy }] = await Promise.all([
    import('undici'),
    import('../../../http-kit/connect.ts'),
  ]);
  const tls = tlsOptionsOf(ca, connection);
  return new library.Pool(origin, {
    connections,
    pipelining: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
    maxResponseSize: BODY_BYTES_MAX,
    keepAliveTimeout: IDLE_MS_MAX,
    keepAliveMaxTimeout: IDLE_MS_MAX,
    connect: throughProxy(
      library.buildConnector({ ...tls, allowH2: false, lookup: lookupSandbox }),
      tls,
      connection?.proxies,
    ),
  });
}

/** Returns the media type without parameters. Only a well-formed one, because it is shown to people. */
const readMediaType = (header: string | string[] | undefined): string | undefined =>
  typeof header === 'string' ? /^[\w.+-]{1,40}\/[\w.+-]{1,40}/.exec(header)?.[0] : undefined;

/** Describes a failed request without quoting the sandbox. */
function toSessionError(error: unknown, request: string): SessionError {
  if (error instanceof DeadlinePassed) {
    return new SessionError('timeout', `${request}: ${error.message}.`);
  }
  if (error instanceof ProxyError) {
    return new SessionError('infrastructure_error', `${request}: ${error.message}.`);
  }
  const { code = '', name } = firstError(error);
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') {
    const problem = `the response is larger than ${BODY_BYTES_MAX} bytes`;
    return new SessionError('agent_error', `${request}: ${problem}.`);
  }
  if (name === 'HTTPParserError' || code.startsWith('HPE_')) {
    return new SessionError('agent_error', `${request}: the response is not HTTP.`);
  }
  const isUntrusted = /CERT|SELF_SIGNED|UNABLE_TO_(VERIFY|GET)/.test(code);
  const problem = isUntrusted
    ? 'the certificate is not trusted'
    : (CONNECTION_PROBLEMS[code] ?? 'the connection was dropped');
  const text = `${request}: ${problem}${code && ` (${code})`}.`;
  return new SessionError('infrastructure_error', isUntrusted ? `${text} ${TRUST_CA}` : text);
}

const TRUST_CA =
  'Trust its CA: set NODE_EXTRA_CA_CERTS=FILE for the service, or pass --ca FILE to simulate.';

const CONNECTION_PROBLEMS: Partial<Record<string, string>> = {
  ECONNREFUSED: 'the sandbox refuses connections',
  ENOTFOUND: 'the host name of the sandbox does not resolve',
  EAI_AGAIN: 'the host name of the sandbox does not resolve',
  [RESERVED_ADDRESS]: 'the host name of the sandbox leads to a link-local or metadata address',
  EHOSTUNREACH: 'the sandbox is unreachable',
  ENETUNREACH: 'the sandbox is unreachable',
  UND_ERR_CONNECT_TIMEOUT: 'the sandbox does not accept connections',
  ETIMEDOUT: 'the sandbox does not accept connections',
};
