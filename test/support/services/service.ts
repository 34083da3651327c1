import { Agent } from 'undici';
import type { Test } from 'tap';
import { startService, type RunningService } from '../../../src/service/index.ts';
import type { ServiceSetup } from '../../../src/service/app/options.ts';
import type {
  ClosedConversation,
  EvalDefinition,
  MessageName,
  ProductionSessionPage,
  SimulationSessionPage,
} from '../../../src/contract/index.ts';
import { manualClock, type ManualClock } from '../../../src/platform/manual-clock.ts';
import { newDatabaseOption, replicaCount } from '../database/store.ts';
import {
  assertResponse,
  createSend,
  type HttpResponse,
  type SendOptions,
} from '../network/send.ts';
import { withServicesAsOne } from './round-robin.ts';
import { makeTraceRequest } from '../traces/otlp.ts';

/** A request to the service: a null `key` sends no key. */
interface ServiceSendOptions extends SendOptions {
  key?: string | null;
}

type ServiceSend = (route: string, options?: ServiceSendOptions) => Promise<HttpResponse>;

/** An entry of the ingest log. */
export interface LogEntry {
  level: string;
  code: string;
  message: string;
  about: Record<string, unknown>;
}

/** A service under test, and functions that send requests to it over HTTP. */
export interface ServiceUnderTest {
  service: RunningService;
  clock: ManualClock;
  send: ServiceSend;
  /** Sends a request to `/__admin`, and asserts a 200. */
  admin: (route: string, body?: unknown) => Promise<unknown>;
  /** Sends spans as OTLP/JSON, and asserts a 200. */
  trace: (...spans: Record<string, unknown>[]) => Promise<void>;
  end: (conversationId: string) => Promise<ClosedConversation>;
  drain: () => Promise<void>;
  /** Returns the ingest log, newest entries first. */
  ingestLog: () => Promise<LogEntry[]>;
  production: (query?: string) => Promise<ProductionSessionPage>;
  simulations: (query?: string) => Promise<SimulationSessionPage>;
}

/** The time when the clock of a test starts: 20 November 2026, 10:00 UTC. */
export const START_MS = Date.UTC(2026, 10, 20, 10);

/**
 * Starts a service on a free port with a manual clock, and stops it after the test. It consists of
 * several replicas behind a proxy if the tests use these.
 */
export function withService(
  t: Test,
  options: Partial<ServiceSetup> = {},
): Promise<ServiceUnderTest> {
  return withReplicated(t, replicaCount, options);
}

/**
 * Starts a service like `withService`, but only one replica, for a test about what each replica has of
 * its own, such as its metrics or its connections.
 */
export function withOneReplica(
  t: Test,
  options: Partial<ServiceSetup> = {},
): Promise<ServiceUnderTest> {
  return withReplicated(t, 1, options);
}

async function withReplicated(
  t: Test,
  count: number,
  options: Partial<ServiceSetup>,
): Promise<ServiceUnderTest> {
  const clock = manualClock(START_MS);
  const database = await newDatabaseOption(t, options);
  const settings = { clock, randomSeed: 'test', ...database, ...options };
  const isShared = count > 1 && settings.databaseUrl !== undefined;
  const service = isShared
    ? await withServicesAsOne(t, count, settings)
    : await startService(settings);
  t.teardown(() => service.stop());
  return createServiceUnderTest(t, { service, clock });
}

/** Creates functions that send requests to a service, directly or to another URL. */
export function createServiceUnderTest(
  t: Test,
  {
    service,
    clock,
    url = service.url,
  }: Pick<ServiceUnderTest, 'service' | 'clock'> & { url?: string },
): ServiceUnderTest {
  const dispatcher = new Agent();
  t.teardown(() => dispatcher.close());
  const send = createServiceSend({ url, apiKey: service.apiKey }, dispatcher);
  const page = async <Page>(message: MessageName, path: string): Promise<Page> => {
    const response = await send(`GET ${path}`);
    assertResponse(t, response, 200, message);
    return response.json as Page;
  };
  const admin: ServiceUnderTest['admin'] = async (route, body) => {
    const [method = '', path = ''] = route.split(' ');
    const response = await send(`${method} /__admin${path}`, { body, key: null });
    t.equal(response.status, 200, `${route}: ${response.text.slice(0, 300)}`);
    return response.json;
  };
  return {
    service,
    clock,
    send,
    admin,
    trace: async (...spans) => {
      const response = await send('POST /v1/traces', { body: makeTraceRequest(spans) });
      t.equal(response.status, 200, response.text);
    },
    end: async (conversationId) => {
      const response = await send(`POST /v1/sessions/${encodeURIComponent(conversationId)}/end`);
      assertResponse(t, response, 200, 'ClosedConversation');
      return response.json as ClosedConversation;
    },
    drain: async () => {
      await admin('POST /drain');
    },
    ingestLog: async () => {
      const { entries } = (await admin('GET /ingest-log')) as { entries: LogEntry[] };
      return entries;
    },
    production: (query = '') =>
      page('ProductionSessionPage', `/api/prod-evaluations/sessions/${query}`),
    simulations: (query = '') =>
      page('SimulationSessionPage', `/api/simulations/sessions/${query}`),
  };
}

/** Creates a function that sends requests with a key, by default that of the service. */
function createServiceSend(
  { url, apiKey }: Pick<RunningService, 'url' | 'apiKey'>,
  dispatcher: Agent,
): ServiceSend {
  const send = createSend(url, dispatcher);
  return (route, { key = apiKey, headers, ...request } = {}) =>
    send(route, {
      ...request,
      headers: { ...(key !== null && { 'x-service-api-key': key }), ...headers },
    });
}

/** Asserts an error response: the status, exactly `application/json`, and the message. */
export function assertError(
  t: Test,
  response: HttpResponse,
  status: number,
  message: RegExp = /./,
): void {
  assertResponse(t, response, status, 'ServiceError');
  t.equal(response.headers.get('content-type'), 'application/json');
  t.match(response.json, { message });
}

/** Returns an eval that passes if the agent says the text. */
export function makeContainsEval(
  id: string,
  text: string,
  more: Partial<EvalDefinition> = {},
): EvalDefinition {
  return { id, name: `Says ${text}`, kind: 'contains', params: { text }, ...more };
}

/** An eval that the LLM judge scores. */
export const greetsEval: EvalDefinition = {
  id: 'greets',
  name: 'Greets',
  kind: 'judge',
  params: { criteria: 'It greets.' },
};

/** Asserts that each body is rejected with 400 and a message. */
export async function assertRejected(
  t: Test,
  { send }: ServiceUnderTest,
  route: string,
  bodies: unknown[],
): Promise<void> {
  const [method = '', path = ''] = route.split(' ');
  for (const body of bodies) {
    assertError(t, await send(`${method} /__admin${path}`, { body, key: null }), 400);
  }
}
