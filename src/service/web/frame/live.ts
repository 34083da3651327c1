import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { systemClock, type Clock } from '../../../platform/clock.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import { RequestError, toRequestError } from '../../requests/errors.ts';

/** The media type of server-sent events. */
export const EVENT_STREAM_TYPE = 'text/event-stream';

/** The newest content of a live part of a page. */
export interface LiveContent {
  content: Html;
  /** Whether the content will not change anymore. */
  isFinal: boolean;
}

/**
 * Renders a part of a page that updates itself by server-sent events. Without JavaScript it stays as it
 * is, with a link that reloads the page.
 * @param path Route that responds with `LiveUpdates.send`.
 */
export function renderLive(path: string, { content, isFinal }: LiveContent): Html {
  if (isFinal) return html`<div>${content}</div>`;
  return html`<p class="connection" role="status"></p>
    <div data-live="${path}">${content}</div>
    <noscript
      ><p><a href="">Reload this page</a> to see the newest state.</p></noscript
    >`;
}

/**
 * Returns the last event for a reader who may not see the content anymore, or undefined if the browser
 * should ask again.
 */
export function formatEnd({ code, message }: RequestError): string | undefined {
  if (code === 'unauthorized') {
    return formatFinal(
      html`<p class="remark">
        You are signed out. <a href="/sign-in">Sign in</a> to see the newest state.
      </p>`,
    );
  }
  return code === 'not_found' ? formatFinal(html`<p class="remark">${message}</p>`) : undefined;
}

const formatFinal = ({ text }: Html): string => `event: final\ndata: ${JSON.stringify(text)}\n\n`;

const INTERVAL_MS = 1_000;
/** Browsers connect again after a second, before the page calls the connection lost. */
const RETRY_MS = 1_000;
const STREAM_MS_MAX = 600_000;
const KEEPALIVE_MS = 15_000;
/** Rendering for all streams takes at most one fifth of the time. */
const LOAD_DIVISOR = 5;
const STREAMS_MAX = 100;

/** Sends live parts of pages to browsers. */
export interface LiveUpdates {
  /**
   * Responds with server-sent events: the content now, and again whenever it has changed, until it is
   * final, the reader signs out or loses the key, the browser leaves, or ten minutes have passed. The
   * browser then asks again.
   * @throws RequestError `busy` if too many pages are open.
   */
  send(
    request: FastifyRequest,
    reply: FastifyReply,
    render: () => Promise<LiveContent>,
  ): FastifyReply;
}

/** What live updates need of the service. */
export interface LiveUpdatesOptions {
  /** Aborts when the service stops. */
  stopping: AbortSignal;
  /** Checks, before each event, that the sender of a request may still read. @throws RequestError. */
  checkReader: (request: FastifyRequest) => Promise<unknown>;
  /** Browsers wait in real time, even if the service clock was moved. */
  clock?: Clock;
}

/** Creates the live updates of a service. */
export function createLiveUpdates(options: LiveUpdatesOptions): LiveUpdates {
  const { stopping, checkReader, clock = systemClock } = options;
  let streams = 0;
  return {
    send(request, reply, render) {
      // The browser has left, so no event would end the stream.
      if (reply.raw.destroyed) return reply.hijack();
      if (streams >= STREAMS_MAX) {
        const message = `${STREAMS_MAX} pages are watching already. Close some, or reload by hand.`;
        throw new RequestError('busy', message);
      }
      streams += 1;
      const left = new AbortController();
      request.raw.once('close', () => left.abort());
      reply.raw.once('close', () => {
        left.abort();
        streams -= 1;
      });
      const signal = AbortSignal.any([stopping, left.signal]);
      reply.headers({ 'content-type': EVENT_STREAM_TYPE, 'cache-control': 'no-store' });
      const pauseAfter = (tookMs: number): number =>
        Math.max(INTERVAL_MS, tookMs * (LOAD_DIVISOR - 1) * streams);
      const load = async (): Promise<LiveContent> => {
        await checkReader(request);
        return render();
      };
      return reply.send(Readable.from(watch(load, { signal, clock, pauseAfter })));
    },
  };
}

interface Watch {
  signal: AbortSignal;
  clock: Clock;
  /** Returns how long to wait after rendering took a time, so that many large pages do not add up. */
  pauseAfter: (tookMs: number) => number;
}

async function* watch(
  load: () => Promise<LiveContent>,
  { signal, clock, pauseAfter }: Watch,
): AsyncGenerator<string> {
  const startedAtMs = clock.monotonicMs();
  let [sent, sentAtMs] = ['', startedAtMs];
  yield `retry: ${RETRY_MS}\n\n`;
  while (!signal.aborted && clock.monotonicMs() - startedAtMs < STREAM_MS_MAX) {
    const loadedAtMs = clock.monotonicMs();
    const loaded = await loadOrEnd(load);
    if (typeof loaded === 'string') {
      yield loaded;
      return;
    }
    const tookMs = clock.monotonicMs() - loadedAtMs;
    // JSON has no line breaks, which would end the data of the event.
    const data = JSON.stringify(loaded.content.text);
    if (data !== sent || clock.monotonicMs() - sentAtMs >= KEEPALIVE_MS) {
      yield data === sent ? ': still the same\n\n' : `data: ${data}\n\n`;
      [sent, sentAtMs] = [data, clock.monotonicMs()];
    }
    // Rejects when the browser leaves or the service stops.
    await clock.sleep(pauseAfter(tookMs), signal).catch(() => undefined);
  }
}

/** Returns the newest content, or the last event of the stream. */
async function loadOrEnd(load: () => Promise<LiveContent>): Promise<LiveContent | string> {
  try {
    const loaded = await load();
    return loaded.isFinal ? formatFinal(loaded.content) : loaded;
  } catch (error) {
    const end = formatEnd(toRequestError(error));
    if (end === undefined) throw error;
    return end;
  }
}
