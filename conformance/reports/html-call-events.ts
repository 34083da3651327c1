import type { CallEvent } from '../../src/contract/index.ts';
import { html, type Html } from '../../src/report-kit/html.ts';
import type { Exchange } from '../engine/transcript/reading.ts';
import { messagesOf } from '../engine/transcript/call-messages.ts';
import { formatSeconds } from '../../src/report-kit/format.ts';

/** The most call events to show. */
const EVENTS_MAX = 2_000;

/** A row of the timeline, and its time. */
export interface TimedRow {
  atMs: number;
  row: Html;
}

/** How call events are rendered. */
export interface EventDrawing {
  /** Formats a time of the run. */
  at: (ms: number) => string;
  /** Cuts a text to its budget. */
  text: (body: string) => string;
  /** Renders a period along the time of the run. */
  bar: (fromMs: number, untilMs: number) => Html;
}

/** Renders the events of calls: messages, media, and the end. */
export function callRows(exchanges: readonly Exchange[], drawing: EventDrawing): TimedRow[] {
  const rows = exchanges.flatMap((exchange) => rowsOf(exchange, drawing));
  return rows.slice(0, EVENTS_MAX);
}

function rowsOf(exchange: Exchange, { at, text, bar }: EventDrawing): TimedRow[] {
  const types = new Map(messagesOf(exchange).map(({ event, type }) => [event, type]));
  return (exchange.call?.events ?? []).map((event, index) => {
    const id = `e${exchange.id}-${index + 1}`;
    const isLong = event.untilMs !== undefined;
    return {
      atMs: event.atMs,
      row: html`<li id="${id}" class="event">
        <a class="soft" href="#${id}">${at(event.atMs)}</a>
        <a class="id" href="#e${exchange.id}">#${exchange.id}</a>
        ${describeEvent(event, types.get(event))}
        ${isLong && bar(event.atMs, event.untilMs ?? event.atMs)}
        ${
          event.text !== undefined &&
          html`<details>
            <summary class="soft">${event.from === 'kit' ? 'Sent' : 'Received'}</summary>
            <pre>${text(event.text)}</pre>
          </details>`
        }
      </li>`,
    };
  });
}

const durationOf = ({ atMs, untilMs = atMs }: CallEvent): string =>
  formatSeconds(untilMs - atMs, 1);

function describeEvent(event: CallEvent, type: string | undefined): Html {
  const { from, kind, code, detail = '' } = event;
  switch (kind) {
    case 'message':
      return html`${from} sends <b>${type ?? 'an invalid message'}</b>`;
    case 'close':
      return from === 'kit'
        ? html`kit hangs up`
        : html`sandbox closes with <b>${code ?? 'no code'}</b> ${detail}`;
    case 'answered':
      return html`kit answers the offer`;
    case 'unusable':
      return html`<b class="lost">the offer is unusable</b>: ${detail}`;
    case 'connected':
      return html`media connected`;
    case 'unconnected':
      return html`<b class="lost">media failed to connect</b>: ${detail}`;
    case 'speech':
      return html`kit speaks for ${durationOf(event)}: ${detail}`;
    case 'sound':
      return html`sandbox is audible for ${durationOf(event)}`;
    case 'released':
      return html`kit releases its media connection`;
  }
}
