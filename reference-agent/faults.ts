import {
  describeArgument,
  describeViolations,
  findViolations,
  formatValue,
  isMessage,
  type AgentFault,
} from '../src/contract/index.ts';
import { FAULTS_MAX } from '../src/http-kit/faults.ts';
import { didYouMean } from '../src/platform/suggest.ts';
import { RequestError, withStartError } from './errors.ts';

/** Part of the agent that faults are injected into. */
export type FaultRoute = NonNullable<AgentFault['route']>;

// The routes of a fault that names none. Responses 429 and 500 server_error belong to chat and users
// (spec 4.5, 7), health reports its own state, and media faults belong to voice.
const ROUTES_BY_KIND: Record<AgentFault['kind'], readonly FaultRoute[]> = {
  latency: ['chat', 'health', 'users', 'voice'],
  rate_limit: ['chat', 'users'],
  server_error: ['chat', 'users'],
  degraded: ['health'],
  unhealthy: ['health'],
  health_check_failed: ['health'],
  malformed_body: ['chat', 'health', 'users'],
  dropped_connection: ['chat', 'health', 'users', 'voice'],
  no_media: ['voice'],
  silent_media: ['voice'],
  wrong_codec: ['voice'],
  bad_sdp: ['voice'],
  jitter: ['voice'],
  late_reply: ['voice'],
  buffered_audio: ['voice'],
  dropped_call: ['voice'],
  never_yields: ['voice'],
  slow_yield: ['voice'],
  talks_over: ['voice'],
  eager_endpoint: ['voice'],
  deaf_after_noise: ['voice'],
  forgets_after_barge_in: ['voice'],
};

/** The route of each kind that makes sense on one route only. */
const ONLY_ROUTE_BY_KIND: Partial<Record<AgentFault['kind'], FaultRoute>> = Object.fromEntries(
  Object.entries(ROUTES_BY_KIND)
    .filter(([, routes]) => routes.length === 1)
    .map(([kind, [route]]) => [kind, route]),
);
const KINDS_WITH_BOUNDS: ReadonlySet<string> = new Set(['latency', 'jitter', 'late_reply']);

/** Returns whether a fault is for a route: the one that it names, or else all of its kind. */
export function appliesTo(fault: AgentFault, route: FaultRoute): boolean {
  return fault.route === undefined
    ? ROUTES_BY_KIND[fault.kind].includes(route)
    : fault.route === route;
}

/**
 * Returns a value as a fault.
 * @throws RequestError `bad_request`, even for what the schema can't express: a latency without
 * bounds, or a fault on a route where it has no meaning.
 */
export function toFault(value: unknown): AgentFault {
  if (!isMessage('AgentFault', value)) {
    throw invalidFault(describeViolations(findViolations('AgentFault', value)));
  }
  if (!hasValidBounds(value)) {
    throw invalidFault(
      `${value.kind} needs /latency with min_ms not greater than max_ms, for example ` +
        `${value.kind};min_ms=100;max_ms=300`,
    );
  }
  const misplacement = findMisplacement(value);
  if (misplacement !== undefined) throw invalidFault(misplacement);
  return value;
}

/** Returns the problem of a fault that code passes, as a sentence; undefined if it is valid. */
export function findFaultProblem(argument: string, value: unknown): string | undefined {
  if (!isMessage('AgentFault', value)) return describeArgument(argument, 'AgentFault', value);
  if (!hasValidBounds(value)) {
    return `${argument}.latency must have a min_ms not greater than max_ms, for example { min_ms: 100, max_ms: 300 }.`;
  }
  const misplacement = findMisplacement(value);
  return misplacement && `${argument}: ${misplacement}.`;
}

function hasValidBounds({ kind, latency }: AgentFault): boolean {
  return latency ? latency.min_ms <= latency.max_ms : !KINDS_WITH_BOUNDS.has(kind);
}

/** Returns why a fault has no meaning on its route, as a clause; undefined if it has one. */
function findMisplacement({ kind, route }: AgentFault): string | undefined {
  const onlyRoute = ONLY_ROUTE_BY_KIND[kind];
  return onlyRoute !== undefined && route !== undefined && route !== onlyRoute
    ? `${kind} applies to the route ${onlyRoute} only, not to ${route}`
    : undefined;
}

const invalidFault = (problem: string): RequestError =>
  new RequestError('bad_request', `Invalid fault: ${problem}.`);

/** Returns a value as a list of faults. @throws RequestError `bad_request`. */
export function parseFaultList(value: unknown): AgentFault[] {
  if (!Array.isArray(value) || value.length > FAULTS_MAX) {
    const message = `Faults must be an array of at most ${FAULTS_MAX} faults.`;
    throw new RequestError('bad_request', message);
  }
  return value.map(toFault);
}

/**
 * Reads a fault from the text of an option or a file, in one of the forms that `parseFault` accepts.
 * @throws StartError when the text is not a valid fault.
 */
export function readFault(text: string): AgentFault {
  return withStartError(() => parseFault(text));
}

/**
 * Parses a fault: JSON of an AgentFault, or its short form such as
 * `rate_limit;route=chat;retry_after_s=1` or `latency;min_ms=100;max_ms=300`.
 * @throws RequestError `bad_request`.
 */
export function parseFault(text: string): AgentFault {
  const trimmed = text.trim();
  if (!trimmed.startsWith('{')) return toFault(parseShortForm(trimmed));
  let value: unknown;
  try {
    value = JSON.parse(trimmed);
  } catch {
    throw invalidFault('it starts with { but is not valid JSON');
  }
  return toFault(value);
}

function parseShortForm(text: string): unknown {
  const [kind = '', ...pairs] = text.split(';').map((part) => part.trim());
  const kinds = Object.keys(ROUTES_BY_KIND);
  if (!kinds.includes(kind)) {
    const known = didYouMean(kind, kinds, `Known faults: ${kinds.sort().join(', ')}.`);
    throw new RequestError('bad_request', `Unknown fault ${formatValue(kind)}. ${known}`);
  }
  // Maps, so that a key such as `__proto__` has no special meaning.
  const fault = new Map<string, unknown>([['kind', kind]]);
  const latency = new Map<string, unknown>();
  for (const pair of pairs.filter((part) => part !== '')) {
    const [key = '', word = ''] = pair.split('=').map((part) => part.trim());
    const fields = key === 'min_ms' || key === 'max_ms' ? latency : fault;
    if (fields.has(key)) throw repeatedKey(key);
    fields.set(key, /^\d+$/.test(word) ? Number(word) : word);
  }
  if (latency.size > 0) {
    if (fault.has('latency')) throw repeatedKey('latency');
    fault.set('latency', Object.fromEntries(latency));
  }
  return Object.fromEntries(fault);
}

const repeatedKey = (key: string): RequestError => invalidFault(`${key} is given twice`);
