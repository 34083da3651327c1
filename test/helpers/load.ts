import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Test } from 'tap';
import { findBrokenMusts } from '../../conformance/index.ts';
import { load, type LoadRun } from '../../load/index.ts';
import { completeRun } from '../../load/load-run.ts';
import type { LoadReport, LoadTarget } from '../../src/contract/index.ts';
import { systemClock, type Clock } from '../../src/platform/clock.ts';
import { startLocally } from './local-server.ts';

/** A chat request that the target server received. */
export interface ReceivedChat {
  /** The position of the request, from 0. */
  nth: number;
  session: string;
  /** When the request arrived, on the monotonic system clock. */
  atMs: number;
  request: IncomingMessage;
  response: ServerResponse;
  /** Sends a valid response, by default with the session id of the request. */
  answer: (session?: string, headers?: Record<string, string>) => void;
}

/** A sandbox whose chat responses a test controls. */
export interface LoadTargetServer {
  url: string;
  /** The number of chat requests received. */
  readonly chats: number;
  server: Server;
}

/** Starts a conforming sandbox whose chat requests go to `handleChat`, and stops it after the test. */
export async function withTarget(
  t: Test,
  handleChat: (chat: ReceivedChat) => void = ({ answer }) => answer(),
): Promise<LoadTargetServer> {
  let chats = 0;
  const server = createServer((request, response) => {
    const atMs = systemClock.monotonicMs();
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (text: string) => (body += text));
    request.on('end', () => {
      if (request.url === '/health') sendJson(response, healthy);
      else if (request.url?.startsWith('/users')) sendJson(response, userResponse(request, body));
      else {
        const session = sessionIn(body);
        handleChat({
          nth: chats++,
          session,
          atMs,
          request,
          response,
          answer: (echoed = session, headers = {}) => sendJson(response, reply(echoed), headers),
        });
      }
    });
  });
  // Longer than the load generator keeps idle connections, so that none closes on reuse.
  server.keepAliveTimeout = 60_000;
  const url = await startLocally(t, server);
  return {
    url,
    server,
    get chats() {
      return chats;
    },
  };
}

const healthy = { status: 'healthy', timestamp: '2026-11-20T09:30:00.000Z' };
const reply = (session: string): object => ({
  session_id: session,
  choices: [{ message: { role: 'assistant', content: 'Hello.' } }],
});
const sessionIn = (body: string): string =>
  (JSON.parse(body) as { session_id?: string }).session_id ?? '';

function userResponse({ method, url = '' }: IncomingMessage, body: string): object {
  const at = '2026-11-20T09:30:00.000Z';
  if (method === 'DELETE') return { user_id: url.slice(7), deleted_at: at, status: 'deleted' };
  const { user_id: id } = JSON.parse(body) as { user_id?: string };
  return { user_id: id, created_at: at, status: 'created' };
}

function sendJson(
  response: ServerResponse,
  body: object,
  headers: Record<string, string> = {},
): void {
  response.writeHead(200, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

/** Calls a function after some milliseconds of real time. */
export const callAfter = (ms: number, then: () => void): void =>
  void systemClock.sleep(ms).then(then);

/** Limits the capacity: a number of workers, each busy for `serviceMs` per request, and one queue. */
export function workers(count: number, serviceMs: number): (chat: ReceivedChat) => void {
  const waiting: (() => void)[] = [];
  let free = count;
  const startNext = (): void => {
    const next = free > 0 ? waiting.shift() : undefined;
    if (!next) return;
    free--;
    callAfter(serviceMs, () => {
      free++;
      next();
      startNext();
    });
  };
  return ({ answer }) => {
    waiting.push(answer);
    startNext();
  };
}

/** Limits that no machine exceeds, so that the verdict depends on the sandbox only. */
export const ANY_GENERATOR = {
  lagP99MsMax: 1e9,
  lagMsMax: 1e9,
  loopBusyMax: 1,
  cpuPercentMax: 1e9,
};

/** Returns options of a short run without warm-up that is valid even on a busy machine. */
export function loadOptions(sandbox: string, over: Partial<LoadRun> = {}): LoadRun {
  return completeRun({
    sandbox,
    kitVersion: '0.1.0',
    seed: 'test',
    clock: systemClock,
    profile: 'chat',
    ratePerSecond: 50,
    simulatedUsers: 5,
    windowMs: 2_000,
    warmUpMs: 0,
    apiKey: undefined,
    ca: undefined,
    generatorLimits: ANY_GENERATOR,
    validateResponse: findBrokenMusts,
    preflight: () => Promise.resolve({ hasUsers: true }),
    onTick: () => {},
    signal: new AbortController().signal,
    ...over,
  });
}

/** Runs a short load test. */
export const runLoad = (sandbox: string, over: Partial<LoadRun> = {}): Promise<LoadReport> =>
  load(loadOptions(sandbox, over));

/** Returns a target of a report. */
export function findTarget({ targets }: LoadReport, id: LoadTarget['id']): LoadTarget {
  const target = targets.find((row) => row.id === id);
  if (!target) throw new Error(`The report has no target ${id}.`);
  return target;
}

/** Returns the verdict of each tested target. */
export const testedVerdicts = ({ targets }: LoadReport): Record<string, string> =>
  Object.fromEntries(
    targets
      .filter(({ verdict }) => verdict !== 'NOT TESTED')
      .map(({ id, verdict }) => [id, verdict]),
  );

/** Blocks the event loop. */
export function blockEventLoop(ms: number, clock: Clock = systemClock): void {
  const untilMs = clock.monotonicMs() + ms;
  while (clock.monotonicMs() < untilMs);
}

/** Returns the percentiles and the mean of the response times of chat in milliseconds. */
export function readLatencies({
  chat,
}: LoadReport): Record<'p50' | 'p90' | 'p99' | 'mean', number> {
  const { p50, p90, p99, mean } = chat?.latencyMs ?? {};
  return { p50: p50 ?? NaN, p90: p90 ?? NaN, p99: p99 ?? NaN, mean: mean ?? NaN };
}
