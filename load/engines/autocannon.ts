import type { SecureContextOptions } from 'node:tls';
import type { Clock } from '../../src/platform/clock.ts';
import { startAutocannon, asGateable, AUTOCANNON_VERSION } from './autocannon-client.ts';
import { createDeadlines } from './deadlines.ts';
import { createGatedClient, type GatedClient } from './gated-client.ts';
import type { ExchangeResult, OutgoingRequest, Transport } from './transport.ts';

/** Settings of the autocannon transport. */
export interface AutocannonOptions {
  target: string;
  /** CA and client certificate. */
  tls?: SecureContextOptions;
  clock: Clock;
  /** The most requests in flight; each needs its own connection. */
  connections: number;
}

/** Turns off autocannon's rate, because the gate paces requests, and its latency correction, which is wrong. */
const UNPACED = { connectionRate: 1_000_000_000, ignoreCoordinatedOmission: true };
/** Longer than any run, because autocannon's own timeouts are not used. */
const NO_TIMEOUT_S = 2_000_000;

/**
 * Creates a transport on autocannon. Its connections send only when the schedule calls for it, and open
 * only when needed. A request without a free connection waits and is counted as delayed.
 */
export function createAutocannonTransport(options: AutocannonOptions): Transport {
  const { target, tls, clock, connections } = options;
  const url = new URL(target);
  const base = url.pathname.replace(/\/+$/, '');
  const deadlines = createDeadlines(clock);
  const idle: GatedClient[] = [];
  const backlog: {
    outgoing: OutgoingRequest;
    deadlineAtMs: number;
    onEnd: (result: ExchangeResult) => void;
  }[] = [];
  let delayed = 0;

  const onFree = (client: GatedClient): void => {
    const next = backlog.shift();
    if (next) client.send(next.outgoing, next.deadlineAtMs, next.onEnd);
    else idle.push(client);
  };
  const run = startAutocannon({
    url: url.origin,
    tlsOptions: tls ?? {},
    connections,
    duration: NO_TIMEOUT_S,
    timeout: NO_TIMEOUT_S,
    // autocannon stops only at the end of a sample.
    sampleInt: 100,
    ...UNPACED,
    setupClient: (client: unknown) => {
      idle.push(createGatedClient(asGateable(client), { clock, deadlines, onFree }));
    },
  });
  return {
    name: `autocannon ${AUTOCANNON_VERSION}`,
    get delayed() {
      return delayed;
    },
    send(outgoing, deadlineAtMs, onEnd) {
      const request = { ...outgoing, path: base + outgoing.path };
      const client = idle.pop();
      if (client) {
        client.send(request, deadlineAtMs, onEnd);
        return;
      }
      delayed++;
      backlog.push({ outgoing: request, deadlineAtMs, onEnd });
    },
    async close() {
      deadlines.close();
      backlog.length = 0;
      run.stop();
      await run;
    },
  };
}
