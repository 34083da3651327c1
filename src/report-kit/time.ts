/** Times as pages show them: without seconds, which `title` and `datetime` have. */
import { isoTime } from '../platform/clock.ts';
import { formatAge, formatInstant } from './format.ts';
import { html, type Html } from './html.ts';
import type { ItemColumn } from './table.ts';

/** Formats a time without seconds: "2026-11-20 09:30 UTC". */
export const formatMinute = (ms: number): string => `${toMinute(ms)} UTC`;

const toSecond = (ms: number): string =>
  isoTime(ms).slice(0, 'YYYY-MM-DDTHH:MM:SS'.length).replace('T', ' ');

const toMinute = (ms: number): string => toSecond(ms).slice(0, 'YYYY-MM-DD HH:MM'.length);

/** Renders a time without seconds. */
export const renderTime = (ms: number): Html => renderAs(ms, formatMinute(ms));

/** Renders how long ago a time was. */
export const renderAge = (ms: number, nowMs: number): Html => renderAs(ms, formatAge(nowMs - ms));

function renderAs(ms: number, content: Html | string): Html {
  const iso = isoTime(ms);
  return html`<time datetime="${iso}" title="${formatInstant(iso)}">${content}</time>`;
}

/** What a column of times shows of each item. */
interface TimeColumn<Item> {
  name: string;
  msOf: (item: Item) => number | undefined;
  /** Whether times have seconds, because they may be in the same minute. */
  hasSeconds?: boolean;
  /** Puts the time into a link. */
  link?: (item: Item, time: Html) => Html;
}

/**
 * Returns a column of times, for one table. Rows of the same day show the day once: in the others it is
 * transparent, so that times stay aligned, and screen readers and copies have it.
 */
export function createTimeColumn<Item>({
  name,
  msOf,
  hasSeconds = false,
  link = (_, time) => time,
}: TimeColumn<Item>): ItemColumn<Item> {
  let previous = '';
  return {
    name,
    remark: 'UTC',
    className: 'when',
    content: (item) => {
      const ms = msOf(item);
      if (ms === undefined) return undefined;
      const [day = '', time = ''] = (hasSeconds ? toSecond : toMinute)(ms).split(' ');
      const isRepeated = day === previous;
      previous = day;
      const shownDay = isRepeated ? html`<span class="same-day">${day}</span>` : day;
      return link(item, renderAs(ms, html`${shownDay} ${time}`));
    },
  };
}

/** CSS rules of times. Stacked rows all show their day. */
export const TIME_CSS = `
time { font-variant-numeric: tabular-nums; }
.same-day { opacity: 0; }
`;
