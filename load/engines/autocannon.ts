import type { Clock } from '../../src/platform/clock.ts';
import { autocannon, asGateable, AUTOCANNON_VERSION } from './autocannon-client.ts';
import { watchDeadlines } from './deadlines.ts';
import { gatedClient, type GatedClient } from './gated-client.ts';
import type { Came, Outgoing, Transport } from './transport.ts';

/** How the sandbox is reached by autocannon. */
export interface AutocannonOptions {
  target: string;
  clock: Clock;
  /** Requests that may be in flight at once; each has a connection of its own. */
  connections: number;
}

/** No rate of its own: the gate says when to send. Its correction of latencies is wrong, and off. */
const UNPACED = { connectionRate: 1_000_000_000, ignoreCoordinatedOmission: true };
/** Longer than any run; autocannon's own timeouts are not used. */
const NEVER_S = 2_000_000;

/**
 * autocannon as a transport: its connections send when the gate lets them, at the time that the
 * schedule says, and never on their own. It connects only what is needed. A request for which no
 * connection is free waits for one, and is counted as held back.
 */
export function autocannonTransport(options: AutocannonOptions): Transport {
  const { target, clock, connections } = options;
  const url = new URL(target);
  const base = url.pathname.replace(/\/+$/, '');
  const deadlines = watchDeadlines(clock);
  const idle: GatedClient[] = [];
  const backlog: { outgoing: Outgoing; deadlineAtMs: number; ended: (came: Came) => void }[] = [];
  let held = 0;

  const free = (client: GatedClient): void => {
    const next = backlog.shift();
    if (next) client.send(next.outgoing, next.deadlineAtMs, next.ended);
    else idle.push(client);
  };
  const run = autocannon({
    url: url.origin,
    connections,
    duration: NEVER_S,
    timeout: NEVER_S,
    // It stops only where a sample ends.
    sampleInt: 100,
    ...UNPACED,
    setupClient: (client: unknown) => {
      idle.push(gatedClient(asGateable(client), { clock, deadlines, free }));
    },
  });
  return {
    name: `autocannon ${AUTOCANNON_VERSION}`,
    get held() {
      return held;
    },
    send(outgoing, deadlineAtMs, ended) {
      const under = { ...outgoing, path: base + outgoing.path };
      const client = idle.pop();
      if (client) {
        client.send(under, deadlineAtMs, ended);
        return;
      }
      held++;
      backlog.push({ outgoing: under, deadlineAtMs, ended });
    },
    async close() {
      deadlines.close();
      backlog.length = 0;
      run.stop();
      await run;
    },
  };
}
