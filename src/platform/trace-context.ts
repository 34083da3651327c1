/** W3C Trace Context: lets users find the requests of a run in their own monitoring. */
import { hash } from 'node:crypto';

/** The name of the header. */
export const TRACEPARENT = 'traceparent';

/** Returns the `traceparent` of a request by its name. A repeated name gets a new trace. */
export type CreateTraceparent = (name: string) => string;

/**
 * Creates the trace contexts of a run. Each request starts a separate trace, because servers
 * that continue a trace would otherwise put all requests into one. A trace context depends only on
 * the seed, the name, and how often the name was used before.
 */
export function createTraceparents(seed: string): CreateTraceparent {
  const counts = new Map<string, number>();
  return (name) => {
    const count = counts.get(name) ?? 0;
    counts.set(name, count + 1);
    return createTraceparent(seed, name, count);
  };
}

/**
 * Creates the trace context of a request from the seed and its name. If several requests have the same
 * name, `count` is the number of those before it.
 */
export function createTraceparent(seed: string, name: string, count = 0): string {
  const digits = hash('sha256', `${seed}\ntraceparent\n${name}\n${count}`, 'hex');
  // The flag 01 (sampled) makes monitoring keep the trace, even if it keeps only some traces.
  return `00-${digits.slice(0, 32)}-${digits.slice(32, 48)}-01`;
}

/** Returns the trace id of a `traceparent`; undefined for a missing or invalid one. */
export function traceIdOf(traceparent: string | undefined): string | undefined {
  return /^00-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}$/.exec(traceparent ?? '')?.[1];
}
