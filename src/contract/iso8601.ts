import { DAY_MS, HOUR_MS } from '../platform/clock.ts';

/** Builds the pattern of a month and day. 29 February is accepted in every year. */
const buildMonthDay = (separator: string): string =>
  [
    `(?:0[13578]|1[02])${separator}(?:0[1-9]|[12]\\d|3[01])`,
    `(?:0[469]|11)${separator}(?:0[1-9]|[12]\\d|30)`,
    `02${separator}(?:0[1-9]|[12]\\d)`,
  ].join('|');
const WEEK_DAY = 'W(?:0[1-9]|[1-4]\\d|5[0-3])-[1-7]';
const YEAR_DAY = '(?:00[1-9]|0[1-9]\\d|[12]\\d\\d|3[0-5]\\d|36[0-6])';
const DATE = `\\d{4}-(?:${buildMonthDay('-')}|${WEEK_DAY}|${YEAR_DAY})`;
const DATE_BASIC = `\\d{4}(?:${buildMonthDay('')}|${YEAR_DAY})`;

const HOUR = '(?:[01]\\d|2[0-4])';
const MINUTE = '[0-5]\\d';
const SECOND = '(?:[0-5]\\d|60)';
const FRACTION = '(?:[.,]\\d+)?';
const ZONE = `(?:[Zz]|[+\\-\\u2212]${HOUR}(?::?${MINUTE})?)?`;
const TIME = `${HOUR}(?::${MINUTE}(?::${SECOND})?)?${FRACTION}${ZONE}`;
const TIME_BASIC = `${HOUR}(?:${MINUTE}(?:${SECOND})?)?${FRACTION}${ZONE}`;

/**
 * An ISO 8601 date with optional time, time zone, and fraction: calendar, week, and ordinal dates in
 * extended or basic form. The specification asks for ISO 8601 and leaves time zone and precision open (spec
 * 2.9, 2.10), so all of these are legal. A space instead of `T`, a Unix time, and an RFC 2822 date are not.
 */
export const ISO_8601: RegExp = new RegExp(
  `^(?:${DATE}(?:[Tt]${TIME})?|${DATE_BASIC}(?:[Tt]${TIME_BASIC})?)$`,
);

/**
 * Parses an ISO 8601 time. A time without a zone is UTC. Returns milliseconds since the Unix epoch, with a
 * fraction if the text has one, or undefined for other text and for a date that does not exist.
 */
export function parseIsoTime(text: string): number | undefined {
  if (!ISO_8601.test(text)) return undefined;
  const [date = '', time = ''] = text.split(/[Tt]/);
  const dayMs = parseDay(date.replaceAll('-', ''));
  return dayMs === undefined ? undefined : dayMs + parseTimeOfDay(time);
}

/** Parses a date without separators: a year with a week and week day, a day of the year, or a month and day. */
function parseDay(date: string): number | undefined {
  const [year, rest] = [date.slice(0, 4), date.slice(4)];
  const january1Ms = Date.parse(`${year}-01-01T00:00:00Z`);
  if (rest.length === 3) {
    const ms = january1Ms + (Number(rest) - 1) * DAY_MS;
    // The pattern allows day 366 in every year.
    return ms >= Date.parse(`${year}-12-31T00:00:00Z`) + DAY_MS ? undefined : ms;
  }
  if (rest.startsWith('W')) {
    const [week, weekDay] = [Number(rest.slice(1, 3)), Number(rest.slice(3))];
    // Week 1 contains 4 January; weeks start on Monday.
    const january4Ms = january1Ms + 3 * DAY_MS;
    const mondayMs = january4Ms - daysSinceMonday(january4Ms) * DAY_MS;
    return mondayMs + ((week - 1) * 7 + weekDay - 1) * DAY_MS;
  }
  const [month, day] = [rest.slice(0, 2), Number(rest.slice(2))];
  const ms = Date.parse(`${year}-${month}-01T00:00:00Z`) + (day - 1) * DAY_MS;
  // The pattern allows 29 February in every year.
  const isInMarch = month === '02' && ms >= Date.parse(`${year}-03-01T00:00:00Z`);
  return isInMarch ? undefined : ms;
}

/** Returns how many days a day is after a Monday, 0 to 6. 1970 began on a Thursday. */
function daysSinceMonday(dayMs: number): number {
  const days = dayMs / DAY_MS + 3;
  return ((days % 7) + 7) % 7;
}

/** Returns the milliseconds from midnight UTC to a time of day, which may have a fraction of its last unit. */
function parseTimeOfDay(time: string): number {
  const [, clock = '', fraction = '0', sign, zone = ''] =
    /^([\d:]*)(?:[.,](\d+))?(?:[Zz]|([+\-\u2212])(.*))?$/.exec(time) ?? [];
  const unitMs = HOUR_MS / 60 ** (unitsOf(clock).length - 1);
  const sinceMidnightMs = sumUnits(clock) + Number(`0.${fraction}`) * unitMs;
  return sign === '+' ? sinceMidnightMs - sumUnits(zone) : sinceMidnightMs + sumUnits(zone);
}

const unitsOf = (text: string): string[] => text.match(/\d\d/g) ?? [];

/** Adds up hours, minutes, and seconds. */
const sumUnits = (text: string): number =>
  unitsOf(text).reduce((ms, unit, index) => ms + Number(unit) * (HOUR_MS / 60 ** index), 0);
