const HOUR_MS = 3_600_000;

/** A day in milliseconds. */
export const DAY_MS = 24 * HOUR_MS;

const DATE =
  /^(?<year>\d{4})-?(?:(?<month>\d\d)-?(?<day>\d\d)|W(?<week>\d\d)-?(?<weekDay>[1-7])|(?<yearDay>\d{3}))$/;
const TIME =
  /^(?<hour>\d\d)(?::?(?<minute>\d\d)(?::?(?<second>\d\d))?)?(?:[.,](?<fraction>\d+))?(?<zone>[Zz]|(?<sign>[+\-\u2212])(?<zoneHour>\d\d):?(?<zoneMinute>\d\d)?)?$/;

/**
 * Parses an ISO 8601 time that matches the pattern of the contract: a calendar, week, or ordinal date
 * in extended or basic format, with or without a time of day. A time without a zone is UTC. Returns
 * milliseconds since the Unix epoch, with a fraction if the text has one, or undefined for a date that
 * does not exist.
 */
export function utcInstantMs(iso: string): number | undefined {
  const [date = '', time] = iso.split(/[Tt]/);
  const dayMs = dateMs(DATE.exec(date)?.groups);
  if (dayMs === undefined || time === undefined) return dayMs;
  const sinceMidnightMs = timeMs(TIME.exec(time)?.groups);
  return sinceMidnightMs === undefined ? undefined : dayMs + sinceMidnightMs;
}

type Groups = Record<string, string | undefined>;

function dateMs(groups: Groups | undefined): number | undefined {
  if (!groups) return undefined;
  const { year, month, day, week, weekDay, yearDay } = groups;
  const january1Ms = Date.UTC(Number(year), 0, 1) - centuryOffsetMs(Number(year));
  if (month !== undefined) {
    const ms = Date.parse(`${year ?? ''}-${month}-${day ?? ''}T00:00:00Z`);
    // Some engines reject 30 February, others read it as a day in March.
    return new Date(ms).getUTCDate() === Number(day) ? ms : undefined;
  }
  if (yearDay !== undefined) return january1Ms + (Number(yearDay) - 1) * DAY_MS;
  // Week 1 contains 4 January; weeks start on Monday.
  const january4 = new Date(january1Ms + 3 * DAY_MS);
  const mondayMs = january4.getTime() - ((january4.getUTCDay() + 6) % 7) * DAY_MS;
  return mondayMs + ((Number(week) - 1) * 7 + Number(weekDay) - 1) * DAY_MS;
}

/** `Date.UTC` reads the years 0 to 99 as 1900 to 1999. */
function centuryOffsetMs(year: number): number {
  return year > 99 ? 0 : Date.UTC(1900 + year, 0, 1) - Date.parse(`${pad(year)}-01-01T00:00:00Z`);
}

const pad = (year: number): string => String(year).padStart(4, '0');

function timeMs(groups: Groups | undefined): number | undefined {
  if (!groups) return undefined;
  const { hour, minute, second, fraction, sign, zoneHour, zoneMinute } = groups;
  const unitMs = second !== undefined ? 1000 : minute !== undefined ? 60_000 : HOUR_MS;
  const wholeMs =
    Number(hour) * HOUR_MS + Number(minute ?? 0) * 60_000 + Number(second ?? 0) * 1000;
  const aheadMs = Number(zoneHour ?? 0) * HOUR_MS + Number(zoneMinute ?? 0) * 60_000;
  const zoneMs = sign === '+' ? aheadMs : -aheadMs;
  return wholeMs + Number(`0.${fraction ?? '0'}`) * unitMs - zoneMs;
}
