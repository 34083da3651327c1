/** Requests of clients of the service, as programs send them that use no library of the kit. */
import { request } from 'node:http';
import type { Target } from './judged-client.ts';
import { makeSpan, makeTraceRequest } from '../traces/otlp.ts';

/** Sends a request like a program that uses plain `fetch`. */
export const send = (
  { url, apiKey }: Target,
  method: string,
  path: string,
  body?: unknown,
): Promise<Response> =>
  fetch(`${url}${path}`, {
    method,
    headers: {
      'x-service-api-key': apiKey,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });

export const sendSpans = (target: Target, ...spans: Record<string, unknown>[]): Promise<Response> =>
  send(target, 'POST', '/v1/traces', makeTraceRequest(spans));

export const end = (target: Target, id = 'conv-1'): Promise<Response> =>
  send(target, 'POST', `/v1/sessions/${id}/end`);

/** Sends conversations of one turn each, ends them, and waits until they have results. */
export async function sendConversations(target: Target, count: number): Promise<void> {
  const ids = Array.from({ length: count }, (_, index) => `conv-${index + 1}`);
  await sendSpans(target, ...ids.map((conversationId) => makeSpan({ conversationId })));
  for (const id of ids) await end(target, id);
  await fetch(`${target.adminUrl}/drain`, { method: 'POST' });
}

export const read = (target: Target, path: string): Promise<Response> => send(target, 'GET', path);

/** Opens a trace request whose body is not complete, as when a slow exporter sends it. */
export function openExport({ url, apiKey }: Target, span: Record<string, unknown>) {
  const body = JSON.stringify(makeTraceRequest([span]));
  const sent = request(`${url}/v1/traces`, {
    method: 'POST',
    headers: {
      'x-service-api-key': apiKey,
      'content-type': 'application/json',
      'content-length': String(body.length),
      expect: '100-continue',
    },
  });
  const closed = new Promise<void>((resolve) => {
    sent.once('response', (response) => response.resume().once('end', resolve));
    sent.once('error', () => resolve());
    sent.once('close', () => resolve());
  });
  const arrived = new Promise<void>((resolve) => sent.once('continue', resolve));
  sent.flushHeaders();
  return {
    /** Settles when the service has read the headers. */
    arrived,
    finish: () => {
      sent.end(body);
      return closed;
    },
    abort: () => {
      sent.destroy();
      return closed;
    },
  };
}

/** Reads pages of the simulations until one is empty. */
export async function readUntilEmpty(target: Target, limit: number): Promise<void> {
  for (let skip = 0, count = limit; count > 0; skip += limit) {
    const page = await read(target, `/api/simulations/sessions/?limit=${limit}&skip=${skip}`);
    ({ length: count } = ((await page.json()) as { items: unknown[] }).items);
  }
}

/** Ends a conversation with a chunked body that is empty, as some HTTP libraries do. */
export const endChunked = ({ url, apiKey }: Target): Promise<void> =>
  new Promise((resolve, reject) => {
    const headers = { 'x-service-api-key': apiKey, 'transfer-encoding': 'chunked' };
    request(`${url}/v1/sessions/conv-1/end`, { method: 'POST', headers }, (response) => {
      response.resume().once('end', resolve);
    })
      .once('error', reject)
      .end();
  });
