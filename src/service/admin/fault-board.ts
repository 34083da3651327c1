import type { ServiceFault } from '../../contract/index.ts';
import type { Clock } from '../../platform/clock.ts';
import { RequestError } from '../domain/errors.ts';

/** Where faults show. */
export type FaultRoute = NonNullable<ServiceFault['route']>;

/** A fault that is set, and how often it has shown. */
export interface SetFault {
  fault: ServiceFault;
  shown: number;
  /** Whether it can still show: neither its `times` nor its `ttl_ms` is over. */
  active: boolean;
}

/** The faults that the service shows on demand. */
export interface FaultInjector {
  /**
   * Lets a request to `route` suffer: waits out the first `slow` that is set there, then throws the
   * first other fault. Each counts as shown. @throws RequestError.
   */
  inject(route: FaultRoute): Promise<void>;
  /** Replaces all. @throws RequestError `bad_request` when there are too many. */
  set(faults: readonly ServiceFault[]): void;
  /** @throws RequestError `bad_request` when there are too many. */
  add(fault: ServiceFault): void;
  list(): SetFault[];
}

const faultsMax = 100;
const delayMsDefault = 1000;

interface Armed {
  fault: ServiceFault;
  shown: number;
  endsMs: number;
}

/** Keeps the faults that are set. What waits goes on at once when `stopping` aborts. */
export function createFaultInjector({
  clock,
  stopping,
}: {
  clock: Clock;
  stopping: AbortSignal;
}): FaultInjector {
  let board: Armed[] = [];
  const arm = (fault: ServiceFault): Armed => ({
    fault,
    shown: 0,
    endsMs: clock.monotonicMs() + (fault.ttl_ms ?? Infinity),
  });
  const isActive = ({ fault, shown, endsMs }: Armed): boolean =>
    shown < (fault.times ?? Infinity) && clock.monotonicMs() < endsMs;
  const checkCount = (count: number): void => {
    if (count <= faultsMax) return;
    throw new RequestError('bad_request', `at most ${faultsMax} faults can be set at a time`);
  };
  return {
    async inject(route) {
      if (board.length === 0) return;
      const here = board.filter((armed) => isActive(armed) && showsOn(armed.fault, route));
      const slow = here.find(({ fault }) => fault.kind === 'slow');
      const wrong = here.find(({ fault }) => fault.kind !== 'slow');
      for (const armed of [slow, wrong]) if (armed) armed.shown += 1;
      if (slow && !stopping.aborted) {
        const delayMs = slow.fault.delay_ms ?? delayMsDefault;
        // Rejects only when the service stops, and then there is nothing left to wait for.
        await clock.sleep(delayMs, stopping).catch(() => undefined);
      }
      if (wrong) throw shownAs(wrong.fault);
    },
    set(faults) {
      checkCount(faults.length);
      board = faults.map(arm);
    },
    add(fault) {
      board = board.filter(isActive);
      checkCount(board.length + 1);
      board.push(arm(fault));
    },
    list: () =>
      board.map((armed) => ({
        fault: armed.fault,
        shown: armed.shown,
        active: isActive(armed),
      })),
  };
}

function showsOn(fault: ServiceFault, route: FaultRoute): boolean {
  return fault.route === undefined || fault.route === route;
}

const codes = { rate_limit: 'rate_limited', server_error: 'failed', unavailable: 'busy' } as const;

function shownAs({ kind, retry_after_s: retryAfterS = 1 }: ServiceFault): RequestError {
  const code = codes[kind as keyof typeof codes];
  const headers = code === 'failed' ? {} : { 'retry-after': String(retryAfterS) };
  const article = kind === 'unavailable' ? 'an' : 'a';
  return new RequestError(code, `${article} ${kind} fault is set on this service`, headers);
}
