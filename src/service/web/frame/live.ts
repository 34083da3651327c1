import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { systemClock, type Clock } from '../../../platform/clock.ts';
import { html, type Html } from '../../../report-kit/html.ts';
import { RequestError } from '../../domain/errors.ts';

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
  return html`<div data-live="${path}">${content}</div>
    <noscript
      ><p><a href="">Reload this page</a> to see the newest state.</p></noscript
    >`;
}

/**
 * The script of all pages of the service. It replaces the content of each live part with what the server
 * sends, and keeps what the reader has opened, closed, and focused. Hidden tabs do not listen, because
 * browsers open only six connections to a server.
 */
export const LIVE_SCRIPT = `
for (const part of document.querySelectorAll('[data-live]')) {
  let events;
  let isFinal = false;
  const show = ({ data }) => {
    const states = [...part.querySelectorAll('details[id]')].map(({ id, open }) => [id, open]);
    const focused = part.contains(document.activeElement) ? document.activeElement.id : '';
    part.innerHTML = JSON.parse(data);
    for (const [id, open] of states) document.getElementById(id)?.toggleAttribute('open', open);
    if (focused) document.getElementById(focused)?.focus();
  };
  const listen = () => {
    events?.close();
    if (isFinal || document.hidden) return;
    events = new EventSource(part.dataset.live);
    events.addEventListener('message', show);
    events.addEventListener('final', (event) => {
      isFinal = true;
      show(event);
      events.close();
    });
  };
  document.addEventListener('visibilitychange', listen);
  listen();
}
`;

const INTERVAL_MS = 1_000;
const STREAM_MS_MAX = 600_000;
const KEEPALIVE_MS = 15_000;
/** Rendering for all streams takes at most one fifth of the time. */
const LOAD_DIVISOR = 5;
const STREAMS_MAX = 100;

/** Sends live parts of pages to browsers. */
export interface LiveUpdates {
  /**
   * Responds with server-sent events: the content now, and again whenever it has changed, until it is
   * final, the browser leaves, or ten minutes have passed. The browser then asks again.
   * @throws RequestError `busy` if too many pages are open.
   */
  send(
    request: FastifyRequest,
    reply: FastifyReply,
    render: () => Promise<LiveContent>,
  ): FastifyReply;
}

/**
 * Creates the live updates of a service.
 * @param stopping Aborts when the service stops.
 * @param clock Browsers wait in real time, even if the service clock was moved.
 */
export function createLiveUpdates(stopping: AbortSignal, clock: Clock = systemClock): LiveUpdates {
  let streams = 0;
  return {
    send(request, reply, render) {
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
      reply.headers({ 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
      const pauseAfter = (tookMs: number): number =>
        Math.max(INTERVAL_MS, tookMs * (LOAD_DIVISOR - 1) * streams);
      return reply.send(Readable.from(watch(render, { signal, clock, pauseAfter })));
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
  render: () => Promise<LiveContent>,
  { signal, clock, pauseAfter }: Watch,
): AsyncGenerator<string> {
  const startedAtMs = clock.monotonicMs();
  let [sent, sentAtMs] = ['', startedAtMs];
  while (!signal.aborted && clock.monotonicMs() - startedAtMs < STREAM_MS_MAX) {
    const renderedAtMs = clock.monotonicMs();
    const { content, isFinal } = await render();
    const tookMs = clock.monotonicMs() - renderedAtMs;
    // JSON has no line breaks, which would end the data of the event.
    const data = JSON.stringify(content.text);
    if (isFinal) {
      yield `event: final\ndata: ${data}\n\n`;
      return;
    }
    if (data !== sent || clock.monotonicMs() - sentAtMs >= KEEPALIVE_MS) {
      yield data === sent ? ': still the same\n\n' : `data: ${data}\n\n`;
      [sent, sentAtMs] = [data, clock.monotonicMs()];
    }
    // Rejects when the browser leaves or the service stops.
    await clock.sleep(pauseAfter(tookMs), signal).catch(() => undefined);
  }
}
