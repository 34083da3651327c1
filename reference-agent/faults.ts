import { explain, violations, isMessage, type AgentFault } from '../src/contract/index.ts';
import type { Random } from '../src/platform/random.ts';
import type { Clock } from '../src/platform/clock.ts';
import { RequestError } from './errors.ts';

/** Where faults show. */
export type FaultRoute = NonNullable<AgentFault['route']>;

/** Where a fault was set: on start, or by `/__admin/faults`. */
export type FaultSource = 'admin' | 'options';

/** What a request has to suffer. */
export interface InjectedFaults {
  /** Milliseconds to wait first. */
  waitMs: number;
  /** What it shows then instead of the right answer; never a latency. */
  fault: AgentFault | undefined;
}

/** A fault that is set, and how often it has shown. */
export interface SetFault {
  fault: AgentFault;
  source: FaultSource;
  shown: number;
  /** Whether it can still show: neither its `times` nor its `ttl_ms` is over. */
  active: boolean;
}

/** The faults that the agent shows on demand. */
export interface FaultInjector {
  /** Whether nothing is set; the usual case, asked on every request. */
  isEmpty(): boolean;
  /**
   * What a request to `route` suffers; counts as shown. One latency and one other fault at most:
   * of each the first, by precedence: the request's own header, then admin, then options.
   */
  inject(route: FaultRoute, fromHeader: AgentFault | undefined): InjectedFaults;
  /**
   * What a call suffers, from its WebSocket to its last packet: of each kind the first, by the same
   * precedence. Counts as shown.
   */
  injectIntoCall(fromHeader: AgentFault | undefined): AgentFault[];
  /** Replaces all that was set by admin. */
  setAdmin(faults: AgentFault[]): void;
  /** @throws RequestError `bad_request` when there are too many. */
  addAdmin(fault: AgentFault): void;
  list(): SetFault[];
  /** Takes away what was set by admin and winds the options' faults up again. */
  reset(): void;
}

const faultsMax = 100;

// Where a fault shows that names no route. A 429 and a 500 server_error are answers of chat and
// users (spec 4.5, 7); what health may say of itself is said on health alone, and media is voice's.
const routesOf: Record<AgentFault['kind'], readonly FaultRoute[]> = {
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
};

/** Faults that make sense on one route alone. */
const homeOf: Partial<Record<AgentFault['kind'], FaultRoute>> = Object.fromEntries(
  Object.entries(routesOf)
    .filter(([, routes]) => routes.length === 1)
    .map(([kind, [route]]) => [kind, route]),
);
const needsBounds: ReadonlySet<string> = new Set(['latency', 'jitter', 'late_reply']);

interface Armed {
  fault: AgentFault;
  source: FaultSource;
  shown: number;
  endsMs: number;
}

/** Keeps the faults that are set. Waits are drawn from `chance` in the order in which they show. */
export function createFaultInjector(deps: {
  clock: Clock;
  chance: Random;
  options: AgentFault[];
}): FaultInjector {
  const { clock, chance } = deps;
  const arm = (fault: AgentFault, source: FaultSource): Armed => ({
    fault,
    source,
    shown: 0,
    endsMs: clock.monotonicMs() + (fault.ttl_ms ?? Infinity),
  });
  const armOptions = (): Armed[] => deps.options.map((fault) => arm(fault, 'options'));
  const isActive = ({ fault, shown, endsMs }: Armed): boolean =>
    shown < (fault.times ?? Infinity) && clock.monotonicMs() < endsMs;

  let admin: Armed[] = [];
  let options = armOptions();
  const candidatesFor = (route: FaultRoute, fromHeader: AgentFault | undefined): Armed[] => {
    const candidates = [...admin, ...options].filter((armed) => isActive(armed));
    if (fromHeader) candidates.unshift(arm(fromHeader, 'admin'));
    return candidates.filter(({ fault }) => showsOn(fault, route));
  };
  return {
    injectIntoCall(fromHeader) {
      const here = candidatesFor('voice', fromHeader);
      const kinds = new Set(here.map(({ fault }) => fault.kind));
      return [...kinds].flatMap((kind) => {
        const [first] = here.filter(({ fault }) => fault.kind === kind);
        if (first) first.shown += 1;
        return first ? [first.fault] : [];
      });
    },
    isEmpty: () => admin.length === 0 && options.length === 0,
    inject(route, fromHeader) {
      const here = candidatesFor(route, fromHeader);
      const late = here.find(({ fault }) => fault.kind === 'latency');
      const wrong = here.find(({ fault }) => fault.kind !== 'latency');
      for (const armed of [late, wrong]) if (armed) armed.shown += 1;
      const { min_ms: min, max_ms: max } = late?.fault.latency ?? { min_ms: 0, max_ms: 0 };
      return { waitMs: max > 0 ? chance.integer(min, max) : 0, fault: wrong?.fault };
    },
    setAdmin(faults) {
      admin = faults.map((fault) => arm(fault, 'admin'));
    },
    addAdmin(fault) {
      admin = admin.filter((armed) => isActive(armed));
      if (admin.length >= faultsMax) {
        throw new RequestError('bad_request', `at most ${faultsMax} faults can be set at a time`);
      }
      admin.push(arm(fault, 'admin'));
    },
    list: () =>
      [...admin, ...options].map((armed) => ({
        fault: armed.fault,
        source: armed.source,
        shown: armed.shown,
        active: isActive(armed),
      })),
    reset() {
      admin = [];
      options = armOptions();
    },
  };
}

function showsOn(fault: AgentFault, route: FaultRoute): boolean {
  return fault.route === undefined ? routesOf[fault.kind].includes(route) : fault.route === route;
}

/**
 * A value as a fault.
 * @throws RequestError `bad_request` that says what is wrong, also where the schema is content: a
 * latency without its bounds, or an unhealthy chat.
 */
export function toFault(value: unknown): AgentFault {
  if (!isMessage('AgentFault', value)) {
    throw new RequestError(
      'bad_request',
      `not a fault: ${explain(violations('AgentFault', value))}`,
    );
  }
  const { kind, route, latency } = value;
  if (latency ? latency.min_ms > latency.max_ms : needsBounds.has(kind)) {
    const example = `${kind};min_ms=100;max_ms=300`;
    throw new RequestError(
      'bad_request',
      `a ${kind} fault needs /latency with min_ms up to max_ms, in a word ${example}`,
    );
  }
  const home = homeOf[kind];
  if (home !== undefined && route !== undefined && route !== home) {
    throw new RequestError('bad_request', `a fault ${kind} shows on ${home} only, not on ${route}`);
  }
  return value;
}

/** A list of faults. @throws RequestError `bad_request`. */
export function toFaults(value: unknown): AgentFault[] {
  if (!Array.isArray(value) || value.length > faultsMax) {
    throw new RequestError('bad_request', `the body must be a list of at most ${faultsMax} faults`);
  }
  return value.map(toFault);
}

/**
 * A fault from text: JSON of an AgentFault, or its short form such as
 * `rate_limit;route=chat;retry_after_s=1` or `latency;min_ms=100;max_ms=300`.
 * @throws RequestError `bad_request` that says what is wrong.
 */
export function parseFault(text: string): AgentFault {
  const trimmed = text.trim();
  if (!trimmed.startsWith('{')) return toFault(fromShortForm(trimmed));
  let value: unknown;
  try {
    value = JSON.parse(trimmed);
  } catch {
    throw new RequestError('bad_request', 'not a fault: it starts like JSON and is not JSON');
  }
  return toFault(value);
}

function fromShortForm(text: string): unknown {
  const [kind, ...pairs] = text.split(';').map((part) => part.trim());
  // Maps, so that no key, such as `__proto__`, means anything but itself.
  const fault = new Map<string, unknown>([['kind', kind]]);
  const latency = new Map<string, unknown>();
  for (const pair of pairs.filter((pair) => pair !== '')) {
    const [key = '', word = ''] = pair.split('=').map((part) => part.trim());
    const of = key === 'min_ms' || key === 'max_ms' ? latency : fault;
    if (of.has(key)) throw twice(key);
    of.set(key, /^\d+$/.test(word) ? Number(word) : word);
  }
  if (latency.size > 0) {
    if (fault.has('latency')) throw twice('latency');
    fault.set('latency', Object.fromEntries(latency));
  }
  return Object.fromEntries(fault);
}

const twice = (key: string): RequestError =>
  new RequestError('bad_request', `not a fault: ${key} is there twice`);
