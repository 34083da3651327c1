/** The servers of the kit, as they are fuzzed. */
import { startAgent, type AgentOptions } from '../../../reference-agent/index.ts';
import { createKitFunctions } from '../../../library/kit-functions.ts';
import {
  sandboxRoutes,
  serviceRoutes,
  type Route,
  type Routes,
} from '../../../src/contract/index.ts';
import { manualClock } from '../../../src/platform/manual-clock.ts';
import { silentLog, type Log } from '../../../src/platform/log.ts';
import { startService, type RunningService } from '../../../src/service/index.ts';
import type { ServiceSetup } from '../../../src/service/app/options.ts';
import { readDocument } from '../../support/contract/contract-documents.ts';
import { createProblemFinder } from '../../support/contract/contract-exchanges.ts';
import type { ResponseRules } from './rules.ts';
import type { ServerUnderTest } from './session.ts';

/** The time when the clocks start. */
const START_MS = Date.UTC(2026, 10, 20, 10);

/** Returns a log that keeps the errors. */
function collectErrors(): { log: Log; logged: string[] } {
  const logged: string[] = [];
  const error: Log['error'] = (event, fields) => {
    logged.push(`${event} ${JSON.stringify(fields ?? {})}`);
  };
  return { log: { ...silentLog, error }, logged };
}

/** Starts a service whose clock moves only with requests. */
export async function openService(
  options: Partial<ServiceSetup> = {},
): Promise<ServerUnderTest & { service: RunningService }> {
  const clock = manualClock(START_MS);
  const { log, logged } = collectErrors();
  const service = await startService({
    clock,
    log,
    randomSeed: 'fuzz',
    recordCallers: false,
    kit: createKitFunctions(),
    ...options,
  });
  const to = options.seed ? 'seed' : 'empty';
  return {
    service,
    url: service.url,
    healthPath: '/__admin/health',
    clock,
    logged,
    rules: serviceRules,
    // Responses with an injected fault say so.
    injectsFaults: () => false,
    clearFaults: () => service.clearFaults(),
    async reset() {
      service.clearFaults();
      service.clearRequests();
      await service.reset(to);
    },
    stop: () => service.stop(),
  };
}

/** Starts an agent whose clock moves only with requests. */
export async function openAgent(options: Partial<AgentOptions> = {}): Promise<ServerUnderTest> {
  const clock = manualClock(START_MS);
  const { log, logged } = collectErrors();
  const agent = await startAgent({ clock, log, ...options });
  return {
    url: agent.url,
    healthPath: '/health',
    clock,
    logged,
    rules: agentRules,
    injectsFaults: (requests) =>
      requests.some(
        ({ path, headers }) =>
          path.startsWith('/__admin/faults') ||
          headers.some(([name]) => name === 'x-sandbox-kit-fault'),
      ),
    clearFaults: () => agent.clearFaults(),
    reset: () => agent.reset(),
    stop: () => agent.stop(),
  };
}

/** Checks the responses of the interface with its OpenAPI document. */
function createDocumentRule(
  document: string,
  routes: Routes,
): NonNullable<ResponseRules['findProblems']> {
  const findProblems = createProblemFinder(readDocument(document));
  const operations = Object.entries(routes).map(
    ([id, { method, path, body }]: [string, Route]) => ({
      id,
      method,
      hasBody: body !== undefined,
      pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
    }),
  );
  return ({ method, path, body }, response) => {
    const [pathname = ''] = path.split('?');
    const operation = operations.find(
      (each) => each.method === method && each.pattern.test(pathname),
    );
    if (!operation) return [];
    // The document says nothing about paths that are not percent-encoded, and superfluous bodies.
    if (!isDecodable(pathname) || (body && !operation.hasBody)) return [];
    const text = response.body.toString('utf8');
    const { status, headers } = response;
    const received = {
      status,
      text,
      json: parse(text),
      headers: { get: (name: string) => headers[name.toLowerCase()] ?? null },
    };
    return findProblems(operation.id, received);
  };
}

function isDecodable(path: string): boolean {
  try {
    return decodeURIComponent(path) !== '';
  } catch {
    return false;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const serviceRules: ResponseRules = {
  errorShape: 'ServiceError',
  isAnnounced: ({ headers }) => 'x-sandbox-kit-fault' in headers,
  findProblems: createDocumentRule('openapi-service.json', serviceRoutes),
};

const agentRules: ResponseRules = {
  errorShape: 'SandboxError',
  isAnnounced: () => false,
  findProblems: createDocumentRule('openapi-sandbox.json', sandboxRoutes),
};
