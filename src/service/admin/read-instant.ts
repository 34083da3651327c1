import { brief } from '../../contract/index.ts';
import { utcInstantMs } from '../../platform/utc-instant.ts';
import { InvalidDocumentError } from '../app/errors.ts';

// What a Date can hold, and a page can show: the years 1 to 9999.
const earliestMs = -62_135_596_800_000;
const latestMs = 253_402_300_799_999;

/** A time of a document as milliseconds since the Unix epoch. @throws Misfit. */
export function readInstant(pointer: string, iso: string): number;
export function readInstant(pointer: string, iso: string | undefined): number | undefined;
export function readInstant(pointer: string, iso: string | undefined): number | undefined {
  if (iso === undefined) return undefined;
  const ms = utcInstantMs(iso);
  if (ms !== undefined && ms >= earliestMs && ms <= latestMs) return Math.floor(ms);
  throw new InvalidDocumentError(pointer, `must be a time of the calendar, got ${brief(iso)}`);
}
