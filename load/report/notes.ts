import type { LoadPlan, StreamReport } from '../../src/contract/index.ts';
import { grouped } from '../verdict/amounts.ts';

/** What a reader must know besides the verdict. */
export function notesOn(
  plan: LoadPlan,
  streams: Readonly<Partial<Record<string, StreamReport>>>,
): string[] {
  return [
    ...Object.entries(streams).flatMap(([name, stream]) => (stream ? hints(name, stream) : [])),
    ...(plan.engine === 'autocannon' ? BLIND_SPOTS : []),
  ];
}

/** What autocannon does not do; the engine `open` does all of it. */
const BLIND_SPOTS = [
  'autocannon does not verify TLS certificates: only the preflight did.',
  'autocannon itself does not see which request a reset belongs to, and records neither resets nor timeouts as latencies: both were counted by the gate before it, from its sockets.',
];

function hints(name: string, { errors, retryAfterS }: StreamReport): string[] {
  const limited = errors['rate_limited'] ?? 0;
  const stale = errors['stale_connection'] ?? 0;
  const after = retryAfterS === undefined ? '' : ` (Retry-After up to ${retryAfterS} s)`;
  return [
    ...(limited === 0
      ? []
      : [
          `A rate limit answered 429 to ${grouped(limited)} ${name} requests${after}: that is a limiter, not slowness. Raise the limit for this key before judging the sandbox.`,
        ]),
    ...(stale === 0
      ? []
      : [
          `${grouped(stale)} ${name} requests met a connection that the sandbox closed while it was idle. Let it keep idle connections for longer than 1 s.`,
        ]),
  ];
}
