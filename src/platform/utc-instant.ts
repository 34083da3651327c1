const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const DATE =
  /^(?<year>\d{4})-?(?:(?<month>\d\d)-?(?<day>\d\d)|W(?<week>\d\d)-?(?<weekDay>[1-7])|(?<yearDay>\d{3}))$/;
const TIME =
  /^(?<hour>\d\d)(?::?(?<minute>\d\d)(?::?(?<second>\d\d))?)?(?:[.,](?<fraction>\d+))?(?<zone>[Zz]|(?<sign>[+\-\u2212])(?<zoneHour>\d\d):?(?<zoneMinute>\d\d)?)?$/;

/**
 * Milliseconds since the Unix epoch, with a fraction where the text has one, of an ISO 8601 time
 * that the contract's pattern accepts: calendar, week or ordinal date, extended or basic, with or
 * without time of day. Without a zone it is UTC. Undefined for a date that the calendar lacks.
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
  const january1Ms = Date.UTC(Number(year), 0, 1) - centuryTrapMs(Number(year));
  if (month !== undefined) {
    const ms = Date.parse(`${year ?? ''}-${month}-${day ?? ''}T00:00:00Z`);
    // 30 February is refused by some engines and moved to March by others.
    return new Date(ms).getUTCDate() === Number(day) ? ms : undefined;
  }
  if (yearDay !== undefined) return january1Ms + (Number(yearDay) - 1) * DAY_MS;
  // Week 1 is the one with 4 January in it; weeks begin on Monday.
  const january4 = new Date(january1Ms + 3 * DAY_MS);
  const mondayMs = january4.getTime() - ((january4.getUTCDay() + 6) % 7) * DAY_MS;
  return mondayMs + ((Number(week) - 1) * 7 + Number(weekDay) - 1) * DAY_MS;
}

/** `Date.UTC` takes the years 0 to 99 for 1900 to 1999. */
function centuryTrapMs(year: number): number {
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
