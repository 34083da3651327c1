import { healthTimeoutMs } from '../../src/contract/index.ts';
import type { Shot } from './shot.ts';

/** A health request, as the service sends it before each simulation: without a key. */
export function healthShot(): Shot {
  return {
    stream: 'health',
    endpoint: 'health',
    outgoing: { method: 'GET', path: '/health', headers: { accept: 'application/json' } },
    deadlineMs: healthTimeoutMs,
    markers: [],
  };
}
