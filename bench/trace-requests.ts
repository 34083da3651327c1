/** The keys and bodies of the trace requests that benchmarks send to a service. */
import type { KeyValue, TraceExportRequest } from '../src/contract/index.ts';
import { post } from './post.ts';

export const HTTP_SPANS_PER_REQUEST = 10;

/** Each key may send 120 requests per minute. */
const KEYS = 1_000;
const REQUESTS_PER_KEY = 120;

const keyOf = (nth: number): string => `bench-key-${nth}`;

/** Adds the keys to a service. */
export async function addKeys(adminUrl: string): Promise<void> {
  const keys = Array.from({ length: KEYS }, (_, nth) => ({ key: keyOf(nth), label: 'bench' }));
  await post(`${adminUrl}/seed`, { keys });
}

let keyCount = 0;
let requestCount = 0;
let spanCount = 0;

/** Returns the key of the next request. Keys take turns, because each has a rate limit. */
export function takeKey(): string {
  keyCount += 1;
  return keyOf(Math.floor(keyCount / REQUESTS_PER_KEY) % KEYS);
}

const attribute = (key: string, stringValue: string): KeyValue => ({ key, value: { stringValue } });

/** Returns a request with a new conversation. */
export function createTraceRequest(): TraceExportRequest {
  requestCount += 1;
  const conversation = `conversation-${process.pid}-${requestCount}`;
  const spans = Array.from({ length: HTTP_SPANS_PER_REQUEST }, () => {
    spanCount += 1;
    // Distributed like random ids, the most expensive order for an index.
    const id = ((BigInt(spanCount) * 0x9e37_79b9_7f4a_7c15n) & 0xffff_ffff_ffff_ffffn)
      .toString(16)
      .padStart(16, '0');
    return {
      traceId: `${id}${id}`,
      spanId: id,
      name: 'chat mini',
      kind: 3 as const,
      startTimeUnixNano: '1795176000000000000',
      endTimeUnixNano: '1795176001000000000',
      attributes: [
        attribute('gen_ai.operation.name', 'chat'),
        attribute('gen_ai.conversation.id', conversation),
        attribute(
          'gen_ai.input.messages',
          `[{"role":"user","parts":[{"type":"text","content":"${`${spanCount} `.repeat(330)}"}]}]`,
        ),
        attribute(
          'gen_ai.output.messages',
          `[{"role":"assistant","parts":[{"type":"text","content":"${'x'.repeat(700)}"}]}]`,
        ),
      ],
    };
  });
  return { resourceSpans: [{ scopeSpans: [{ spans }] }] };
}
