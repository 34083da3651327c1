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
