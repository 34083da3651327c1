import {
  isMessage,
  PAGE_LIMIT_MAX,
  pathPattern,
  type Endpoint,
  type ExchangeRecord,
  type Intent,
  type Level,
} from '../src/contract/index.ts';
import { parseJson } from '../src/platform/json.ts';
import type { ChatStep } from './areas/chat/requests.ts';
import { requirement, sandboxSuite, serviceSuite } from './areas/index.ts';
import { OVER_CAP } from './areas/service/results/evidence.ts';
import type { CreateStep } from './areas/users/requests.ts';
import { createExchangeJudge } from './engine/judge/exchange-validator.ts';
import { isServiceEndpoint, routeNames } from './engine/checks/route-names.ts';
import { toPrintable } from './engine/transcript/reading.ts';
import { endpointRoutes, routedEndpoints } from './engine/endpoint-routes.ts';

/** A request and its response, which a test sent and received. */
export interface ForeignExchange {
  request: Pick<ExchangeRecord['request'], 'method' | 'path' | 'headers' | 'body' | 'bodyBase64'>;
  response: NonNullable<ExchangeRecord['response']>;
  /** Milliseconds from the start of the request to the end of the response. */
  durationMs: number;
}

/** A deviation of one exchange from the interface. */
export interface ExchangeFinding {
  /** The id of the requirement, such as `CHAT-024`. `sandbox-kit explain ID` prints the details. */
  id: string;
  /** `fail` for a rule, `warn` for a recommendation or a target. */
  verdict: 'fail' | 'warn';
  /** The rule, in one sentence. */
  rule: string;
  /** Section of the specification. */
  section: string;
  /** JSON pointer into the response body; empty if the finding concerns the whole response. */
  pointer: string;
  expected: string;
  received: string;
  /** How to fix the usual cause, if there is one. */
  hint?: string;
  /** The change to the response that would fix it. */
  repair?: string;
}

const levels: readonly Level[] = ['must', 'should', 'target'];
const judgeSandbox = createExchangeJudge(sandboxSuite, levels);
const judgeService = createExchangeJudge(serviceSuite, levels);

/** The paths that identify an exchange. A base URL may have a path before them. */
const routes = routedEndpoints.map((endpoint) => {
  const route = endpointRoutes[endpoint];
  return { endpoint, method: route.method, path: new RegExp(`${pathPattern(route)}$`) };
});

/** Requirements that depend on earlier exchanges, such as on the first close of a conversation. */
const needsHistory: readonly string[] = ['SERVICE-046'];

/** The routes that `judgeExchange` knows. */
export const judgedRoutes: readonly string[] = routedEndpoints.map(
  (endpoint) => routeNames[endpoint],
);

/**
 * Returns the deviations of one exchange from the interface; undefined if its route is not part of
 * the interface. Does not check rules that compare several exchanges.
 */
export function judgeExchange(exchange: ForeignExchange): ExchangeFinding[] | undefined {
  const { method, path } = exchange.request;
  const pathname = path.replace(/[?#].*$/s, '');
  const endpoint = routes.find(
    (route) => route.method === method.toUpperCase() && route.path.test(pathname),
  )?.endpoint;
  if (endpoint === undefined) return undefined;
  const judge = isServiceEndpoint(endpoint) ? judgeService : judgeSandbox;
  return judge(toRecord(endpoint, exchange)).flatMap(({ id, finding }) => {
    if (finding.isNote || needsHistory.includes(id)) return [];
    const { level, rule, section } = requirement(id);
    const { pointer, expected, received, hint, repair } = finding;
    return [
      {
        id,
        verdict: level === 'must' ? 'fail' : 'warn',
        rule,
        section,
        pointer,
        expected,
        received,
        ...(hint !== undefined && { hint }),
        ...(repair && { repair: toPrintable(repair.description, 200) }),
      },
    ];
  });
}

function toRecord(
  endpoint: Endpoint,
  { request, response, durationMs }: ForeignExchange,
): ExchangeRecord {
  return {
    record: 'exchange',
    id: 1,
    probe: 'test',
    ...readPurpose(endpoint, { request, response }),
    endpoint,
    request,
    response,
    startedMs: 0,
    endedMs: durationMs,
  };
}

/**
 * Returns whether the interface requires a request to be accepted or refused, and the step of the
 * probes that it resembles.
 */
function readPurpose(
  endpoint: Endpoint,
  { request, response: { status, body } }: Omit<ForeignExchange, 'durationMs'>,
): { step: 'own' | typeof OVER_CAP | ChatStep | CreateStep; intent: Intent } {
  const isAccepted = status >= 200 && status < 300;
  if (isServiceEndpoint(endpoint)) {
    const limit = new URLSearchParams(request.path.replace(/^[^?]*/, '')).get('limit');
    const step = Number(limit) > PAGE_LIMIT_MAX ? OVER_CAP : 'own';
    return { step, intent: isAccepted ? 'valid' : 'open' };
  }
  // A missing key or an unknown user says nothing about the form of the request.
  const isOpen = [401, 403].includes(status) || (endpoint === 'delete' && status === 404);
  if (isOpen) return { step: 'own', intent: 'open' };
  const sent = parseJson(request.body);
  if (endpoint === 'create' && !isAccepted && isDuplicate(status, body)) {
    return { step: 'duplicate', intent: 'open' };
  }
  if (!isLegal(endpoint, request, sent)) {
    return { step: 'own', intent: isAccepted ? 'open' : 'refuse' };
  }
  const isMinimal = endpoint === 'chat' && Object.keys(sent as object).join() === 'messages';
  return { step: isMinimal ? 'minimal' : 'own', intent: 'valid' };
}

/** Returns whether the interface allows a request. A test may leave its headers out. */
function isLegal(
  endpoint: Endpoint,
  { headers }: ForeignExchange['request'],
  sent: unknown,
): boolean {
  if (endpoint !== 'chat' && endpoint !== 'create') return true;
  const type = headers['content-type'] ?? 'application/json';
  const message = endpoint === 'chat' ? 'ChatRequest' : 'UserCreateRequest';
  return /^application\/json\b/i.test(type) && isMessage(message, sent);
}

/** Returns whether a create request was refused because the user exists (spec 7). */
function isDuplicate(status: number, body: string): boolean {
  const value = parseJson(body);
  return status === 409 || (isMessage('SandboxError', value) && value.error.code === 'user_exists');
}
