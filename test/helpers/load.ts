import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';
import { findBrokenMusts } from '../../conformance/index.ts';
import { load, type LoadOptions } from '../../load/index.ts';
import type { LoadReport, LoadTarget } from '../../src/contract/index.ts';
import { systemClock, type Clock } from '../../src/platform/clock.ts';

/** A chat request as a target sees it. */
export interface ChatAsked {
  /** 0 for the first. */
  nth: number;
  session: string;
  /** When it came, on the monotonic clock of the machine. */
  atMs: number;
  request: IncomingMessage;
  response: ServerResponse;
  /** Answers well, by default for the session that asked. */
  answer: (session?: string, headers?: Record<string, string>) => void;
}

/** A sandbox whose chat does as a test likes. */
export interface LoadTargetServer {
  url: string;
  /** Chat requests that came. */
  readonly chats: number;
  server: Server;
}

/** A sandbox that obeys, but for what `treat` does to chat; it ends with the test. */
export async function withTarget(
  t: Test,
  treat: (asked: ChatAsked) => void = ({ answer }) => answer(),
): Promise<LoadTargetServer> {
  let chats = 0;
  const server = createServer((request, response) => {
    const atMs = systemClock.monotonicMs();
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (text: string) => (body += text));
    request.on('end', () => {
      if (request.url === '/health') sendJson(response, healthy);
      else if (request.url?.startsWith('/users')) sendJson(response, userAnswer(request, body));
      else {
        const session = sessionIn(body);
        treat({
          nth: chats++,
          session,
          atMs,
          request,
          response,
          answer: (named = session, headers = {}) => sendJson(response, reply(named), headers),
        });
      }
    });
  });
  // Idle connections outlast those of the generator.
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
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

function userAnswer({ method, url = '' }: IncomingMessage, body: string): object {
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

/** Calls `then` after `ms` of the machine's time. */
export const after = (ms: number, then: () => void): void => void systemClock.sleep(ms).then(then);

/** So many answers a second and no more: workers who take some time each, and a queue before them. */
export function workers(number: number, eachMs: number): (asked: ChatAsked) => void {
  const waiting: (() => void)[] = [];
  let free = number;
  const work = (): void => {
    const next = free > 0 ? waiting.shift() : undefined;
    if (!next) return;
    free--;
    after(eachMs, () => {
      free++;
      next();
      work();
    });
  };
  return ({ answer }) => {
    waiting.push(answer);
    work();
  };
}

/** What no machine exceeds: the verdict is the sandbox's alone, however busy this machine is. */
export const ANY_GENERATOR = {
  lagP99MsMax: 1e9,
  lagMsMax: 1e9,
  loopBusyMax: 1,
  cpuPercentMax: 1e9,
};

/** Options of a short run that begins at once; whatever this machine does, it is valid. */
export function loadOf(sandbox: string, over: Partial<LoadOptions> = {}): LoadOptions {
  return {
    sandbox,
    kitVersion: '0.1.0',
    seed: 'test',
    clock: systemClock,
    engine: 'open',
    profile: 'chat',
    arrivals: 'uniform',
    ratePerSecond: 50,
    simulatedUsers: 5,
    windowMs: 2_000,
    warmUpMs: 0,
    percentile: 99,
    apiKey: undefined,
    ca: undefined,
    generatorLimits: ANY_GENERATOR,
    acceptNotProven: false,
    validateResponse: findBrokenMusts,
    preflight: () => Promise.resolve({ hasUsers: true }),
    onTick: () => {},
    signal: new AbortController().signal,
    ...over,
  };
}

/** Loads a sandbox for a short while. */
export const loaded = (sandbox: string, over: Partial<LoadOptions> = {}): Promise<LoadReport> =>
  load(loadOf(sandbox, over));

/** The row of a target. */
export function targetIn({ targets }: LoadReport, id: LoadTarget['id']): LoadTarget {
  const found = targets.find((target) => target.id === id);
  if (!found) throw new Error(`the report has no row ${id}`);
  return found;
}

/** The verdict on each target that was tested. */
export const verdictsIn = ({ targets }: LoadReport): Record<string, string> =>
  Object.fromEntries(
    targets
      .filter(({ verdict }) => verdict !== 'NOT TESTED')
      .map(({ id, verdict }) => [id, verdict]),
  );

/** Keeps the processor to itself, so that nothing else in this process gets a turn. */
export function holdProcessor(ms: number, clock: Clock = systemClock): void {
  const untilMs = clock.monotonicMs() + ms;
  while (clock.monotonicMs() < untilMs);
}
