import type { FastifyInstance } from 'fastify';
import type { ServiceFault } from '../../contract/index.ts';
import { createFaultList, pickFaults, type FaultStatus } from '../../http-kit/faults.ts';
import { sleepUnlessStopping } from '../../http-kit/listen.ts';
import type { Clock } from '../../platform/clock.ts';
import { parseMessage } from '../domain/document-checks.ts';
import { RequestError } from '../domain/errors.ts';

/** Part of the service that faults are injected into. */
export type FaultRoute = NonNullable<ServiceFault['route']>;

/** The faults that the service injects on demand. */
export interface FaultInjector {
  /**
   * Injects the faults set for a route: waits for the first `slow` fault, then throws the error of
   * the first other fault. Both count as injected. @throws RequestError.
   */
  inject(route: FaultRoute): Promise<void>;
  /** Replaces all faults. @throws RequestError `bad_request` when there are too many. */
  replaceAll(faults: readonly ServiceFault[]): void;
  /** Adds a fault. @throws RequestError `bad_request` when there are too many. */
  add(fault: ServiceFault): void;
  statuses(): FaultStatus<ServiceFault>[];
}

const DELAY_MS_DEFAULT = 1000;

/** Creates a fault injector without faults. A delay ends early when `stopping` aborts. */
export function createFaultInjector({
  clock,
  stopping,
}: {
  clock: Clock;
  stopping: AbortSignal;
}): FaultInjector {
  const faults = createFaultList<ServiceFault>(
    clock,
    (message) => new RequestError('bad_request', message),
  );
  return {
    async inject(route) {
      if (faults.isEmpty()) return;
      const candidates = faults.active().filter(({ fault }) => appliesTo(fault, route));
      const { delay, failure } = pickFaults(candidates, ({ kind }) => kind === 'slow');
      if (delay) await sleepUnlessStopping(clock, delay.delay_ms ?? DELAY_MS_DEFAULT, stopping);
      if (failure) throw createFaultError(failure);
    },
    replaceAll: (replacements) => faults.replaceAll(replacements),
    add: (fault) => faults.add(fault),
    statuses: () => faults.statuses(),
  };
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
export function parseFaults(value: unknown): ServiceFault[] {
  if (!Array.isArray(value)) {
    throw new RequestError('bad_request', 'The body must be an array of faults.');
  }
  return value.map((fault: unknown) => parseMessage('ServiceFault', fault));
}

/** `/faults`: lists, replaces, adds and removes faults. */
export function addFaultRoutes(app: FastifyInstance, faults: FaultInjector): void {
  const list = (): object => ({ faults: faults.statuses() });
  app.get('/faults', list);
  app.put('/faults', ({ body }) => {
    faults.replaceAll(parseFaults(body));
    return list();
  });
  app.post('/faults', ({ body }) => {
    faults.add(parseMessage('ServiceFault', body));
    return list();
  });
  app.delete('/faults', () => {
    faults.replaceAll([]);
    return list();
  });
}
