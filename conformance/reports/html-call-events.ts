import type { CallEvent } from '../../src/contract/index.ts';
import { html, type Html } from '../../src/report-kit/html.ts';
import type { Exchange } from '../engine/transcript/reading.ts';
import { messagesOf } from '../engine/transcript/call-messages.ts';

/** Events of all calls that a page shows at most. */
const EVENTS_MAX = 2_000;

/** A row of the timeline, and when it is. */
export interface TimedRow {
  atMs: number;
  row: Html;
}

/** How the rows of calls are drawn. */
export interface EventDrawing {
  /** Words for a time of the run. */
  at: (ms: number) => string;
  /** A text, cut to what the page has room for. */
  text: (body: string) => string;
  /** A stretch of time, drawn along that of the run. */
  bar: (fromMs: number, untilMs: number) => Html;
}

/** What was said and heard in calls, each at its time: messages, media, the end. */
export function callRows(exchanges: readonly Exchange[], drawing: EventDrawing): TimedRow[] {
  const rows = exchanges.flatMap((one) => rowsOf(one, drawing));
  return rows.slice(0, EVENTS_MAX);
}

function rowsOf(one: Exchange, { at, text, bar }: EventDrawing): TimedRow[] {
  const types = new Map(messagesOf(one).map(({ event, type }) => [event, type]));
  return (one.call?.events ?? []).map((event, nth) => {
    const id = `e${one.id}-${nth + 1}`;
    const says = words(event, types.get(event));
    const isLong = event.untilMs !== undefined;
    return {
      atMs: event.atMs,
      row: html`<li id="${id}" class="event">
        <a class="soft" href="#${id}">${at(event.atMs)}</a>
        <a class="id" href="#e${one.id}">#${one.id}</a> ${says}
        ${isLong ? bar(event.atMs, event.untilMs ?? event.atMs) : undefined}
        ${
          event.text === undefined
            ? undefined
            : html`<details>
                <summary class="soft">${event.from === 'kit' ? 'Sent' : 'Received'}</summary>
                <pre>${text(event.text)}</pre>
              </details>`
        }
      </li>`,
    };
  });
}

const lasting = ({ atMs, untilMs = atMs }: CallEvent): string =>
  `${((untilMs - atMs) / 1000).toFixed(1)} s`;

function words(event: CallEvent, type: string | undefined): Html {
  const { from, kind, code, detail = '' } = event;
  switch (kind) {
    case 'message':
      return html`${from} says <b>${type ?? 'what is no message'}</b>`;
    case 'close':
      return from === 'kit'
        ? html`kit hangs up`
        : html`sandbox closes with <b>${code ?? 'nothing'}</b> ${detail}`;
    case 'answered':
      return html`kit has answered the offer`;
    case 'unusable':
      return html`<b class="lost">the offer cannot be taken</b>: ${detail}`;
    case 'connected':
      return html`media can flow`;
    case 'unconnected':
      return html`<b class="lost">media cannot flow</b>: ${detail}`;
    case 'speech':
      return html`kit speaks for ${lasting(event)}: ${detail}`;
    case 'sound':
      return html`sandbox is heard for ${lasting(event)}`;
    case 'released':
      return html`kit gives its end of the media up`;
  }
}
