import type { FastifyInstance } from 'fastify';
import type { ServiceFault } from '../../contract/index.ts';
import {
  createFaultList,
  pickFaults,
  type ArmedFault,
  type FaultStatus,
} from '../../http-kit/faults.ts';
import { sleepUnlessStopping } from '../../http-kit/listen.ts';
import type { AdjustableClock } from '../../platform/adjustable-clock.ts';
import type { SharedFault, SharedState, StateSharing } from '../background/shared-state.ts';
import { parseMessage } from '../requests/document-checks.ts';
import { RequestError } from '../requests/errors.ts';

/** Part of the service that faults are injected into. */
export type FaultRoute = NonNullable<ServiceFault['route']>;

/** The faults that the service injects on demand. */
export interface FaultInjector {
  /**
   * Injects the faults set for a route: waits for the first `slow` fault, then throws the error of
   * the first other fault. Both count as injected. @throws RequestError.
   */
  inject(route: FaultRoute): Promise<void>;
  /**
   * Replaces all faults, in this process before it returns. Resolves when all replicas have them.
   * @throws RequestError `bad_request` when there are too many.
   */
  replaceAll(faults: readonly ServiceFault[]): Promise<void>;
  /** Adds a fault, like `replaceAll`. @throws RequestError `bad_request` when there are too many. */
  add(fault: ServiceFault): Promise<void>;
  /** Returns the faults, with what this process knows about other replicas. */
  statuses(): FaultStatus<ServiceFault>[];
  /** Reads how often other replicas injected the faults. */
  refresh(): Promise<void>;
}

type PickedFaults = ReturnType<typeof pickFaults<ServiceFault>>;

const DELAY_MS_DEFAULT = 1000;

/** Creates a fault injector without faults. A delay ends early when `stopping` aborts. */
export function createFaultInjector({
  clock,
  stopping,
  sharing,
}: {
  clock: AdjustableClock;
  stopping: AbortSignal;
  /** Shares the faults with other replicas; undefined for a single service. */
  sharing: StateSharing | undefined;
}): FaultInjector {
  const faults = createFaultList<ServiceFault>(
    clock,
    (message) => new RequestError('bad_request', message),
  );
  const restore = (shared: SharedState): void =>
    faults.restore(shared.faults.map((each) => fromShared(clock, each)));
  sharing?.onChange(restore);
  /** Changes the faults of all replicas; they inject a limited fault as often as it says together. */
  const changing = (change: () => void) => (shared: SharedState) => {
    restore(shared);
    change();
    shared.faults = faults.armed().map((each) => toShared(clock, each));
  };
  const set = (change: () => void): Promise<void> => {
    change();
    return sharing?.change(changing(change)) ?? Promise.resolve();
  };
  const listActive = (route: FaultRoute): ArmedFault<ServiceFault>[] =>
    faults.active().filter(({ fault }) => appliesTo(fault, route));
  return {
    async inject(route) {
      if (listActive(route).length === 0) return;
      let picked: PickedFaults | undefined;
      const pick = (): void => {
        picked = pickFaults(listActive(route), ({ kind }) => kind === 'slow');
      };
      if (sharing) await sharing.adjust(changing(pick));
      else pick();
      const { delay, failure } = picked ?? {};
      if (delay) await sleepUnlessStopping(clock, delay.delay_ms ?? DELAY_MS_DEFAULT, stopping);
      if (failure) throw createFaultError(failure);
    },
    replaceAll: (replacements) => set(() => faults.replaceAll(replacements)),
    add: (fault) => set(() => faults.add(fault)),
    statuses: () => faults.statuses(),
    refresh: async () => sharing?.adjust(restore),
  };
}

function fromShared(
  clock: AdjustableClock,
  { fault, injected, endsAtMs }: SharedFault,
): ArmedFault<ServiceFault> {
  const leftMs = endsAtMs === null ? Infinity : endsAtMs - clock.runningMs();
  return { fault, injected, endsMs: clock.monotonicMs() + leftMs };
}

function toShared(
  clock: AdjustableClock,
  { fault, injected, endsMs }: ArmedFault<ServiceFault>,
): SharedFault {
  const leftMs = endsMs - clock.monotonicMs();
  return { fault, injected, endsAtMs: leftMs === Infinity ? null : clock.runningMs() + leftMs };
}

function appliesTo(fault: ServiceFault, route: FaultRoute): boolean {
  return fault.route === undefined || fault.route === route;
}

/** Response header that names the injected fault, for the recording and for the developer of the client. */
export const FAULT_HEADER = 'x-sandbox-kit-fault';

const CODE_BY_KIND = {
  rate_limit: 'rate_limited',
  server_error: 'failed',
  unavailable: 'busy',
} as const;

function createFaultError({ kind, retry_after_s: retryAfterS = 1 }: ServiceFault): RequestError {
  const code = CODE_BY_KIND[kind as keyof typeof CODE_BY_KIND];
  const headers = {
    ...(code !== 'failed' && { 'retry-after': String(retryAfterS) }),
    [FAULT_HEADER]: kind,
  };
  const article = kind === 'unavailable' ? 'An' : 'A';
  return new RequestError(code, `${article} ${kind} fault is set on this service.`, headers);
}

/** Returns a value as a list of faults. @throws RequestError `bad_request`. */
function parseFaults(value: unknown): ServiceFault[] {
  if (!Array.isArray(value)) {
    throw new RequestError('bad_request', 'The body must be an array of faults.');
  }
  return value.map((fault: unknown) => parseMessage('ServiceFault', fault));
}

/** `/faults`: lists, replaces, adds and removes faults. */
export function addFaultRoutes(app: FastifyInstance, faults: FaultInjector): void {
  const list = async (): Promise<object> => {
    await faults.refresh();
    return { faults: faults.statuses() };
  };
  app.get('/faults', list);
  app.put('/faults', async ({ body }) => {
    await faults.replaceAll(parseFaults(body));
    return list();
  });
  app.post('/faults', async ({ body }) => {
    await faults.add(parseMessage('ServiceFault', body));
    return list();
  });
  app.delete('/faults', async () => {
    await faults.replaceAll([]);
    return list();
  });
}
