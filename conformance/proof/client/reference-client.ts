import type { Clock } from '../../../src/platform/clock.ts';
import { isObject, parseJson } from '../../../src/platform/json.ts';
import { SERVICE_API_KEY_HEADER } from '../../../src/contract/index.ts';
import { encodings } from '../../areas/service/encodings.ts';
import type { TraceExport } from '../../areas/service/spans.ts';
import { AGENT, HEADER_CONVERSATION, SPAN_CONVERSATION } from '../../areas/client/reference.ts';
import { createBatches } from './batches.ts';

/** The service for a client. */
export interface ClientTarget {
  url: string;
  apiKey: string;
  clock: Clock;
}

type Send = (
  method: 'GET' | 'POST',
  path: string,
  more?: { body?: string | Uint8Array; headers?: Record<string, string> },
) => Promise<{ status: number; text: string }>;

const RETRIED = [429, 502, 503, 504];
const ATTEMPTS_MAX = 5;
const PAUSE_MS_DEFAULT = 1_000;

/**
 * Runs a correct client that uses the whole interface: it sends traces in several forms, ends
 * conversations, reads lists with filters and in pages, and repeats requests that the service
 * refuses temporarily.
 */
export async function runReferenceClient(target: ClientTarget): Promise<void> {
  const send = createSend(target);
  for (const batch of createBatches(target.clock.nowMs())) {
    await send('POST', '/v1/traces', encode(batch.request, batch.encoding, batch.headers));
  }
  for (const id of [SPAN_CONVERSATION, HEADER_CONVERSATION]) {
    await send('POST', `/v1/sessions/${encodeURIComponent(id)}/end`);
  }
  await readSessions(send, '/api/simulations/sessions/');
  await readSessions(send, '/api/simulations/sessions/', {
    agent: AGENT,
    include_traces: 'false',
    limit: '25',
  });
  await readSessions(send, '/api/prod-evaluations/sessions/', {
    started_after: '2026-01-01T00:00:00+00:00',
    failed_only: 'true',
  });
}

function encode(
  request: TraceExport,
  encoding: 'json' | 'gzip' | 'gzipProtobuf',
  headers: Record<string, string>,
): { body: string | Uint8Array; headers: Record<string, string> } {
  const step = encodings[encoding](request);
  const body = 'json' in step.body ? JSON.stringify(step.body.json) : step.body.bytes;
  const type = { 'content-type': 'application/json' };
  return { body, headers: { ...type, ...('headers' in step && step.headers), ...headers } };
}

/** Reads all pages of a list. */
async function readSessions(
  send: Send,
  path: string,
  filters: Record<string, string> = {},
): Promise<void> {
  for (let skip = 0, total = 1; skip < total;) {
    const query = new URLSearchParams({ ...filters, ...(skip > 0 && { skip: String(skip) }) });
    const { text } = await send('GET', query.size === 0 ? path : `${path}?${query.toString()}`);
    const page = parseJson(text);
    const items = isObject(page) ? page['items'] : undefined;
    if (!isObject(page) || !Array.isArray(items) || items.length === 0) return;
    skip += items.length;
    total = Number(page['total']);
  }
}

/** Creates a function that sends a request, and repeats it after the wait that the service asks for. */
function createSend({ url, apiKey, clock }: ClientTarget): Send {
  return async (method, path, { body, headers = {} } = {}) => {
    for (let attempt = 1; ; attempt += 1) {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: { [SERVICE_API_KEY_HEADER]: apiKey, ...headers },
        body: body === undefined ? null : typeof body === 'string' ? body : Buffer.from(body),
      });
      const text = await response.text();
      const { status } = response;
      if (!RETRIED.includes(status) || attempt === ATTEMPTS_MAX) return { status, text };
      const seconds = Number(response.headers.get('retry-after') ?? NaN);
      await clock.sleep(Number.isNaN(seconds) ? PAUSE_MS_DEFAULT : seconds * 1000);
    }
  };
}
