import {
  formatValue,
  describeViolations,
  isMessage,
  findViolations,
  parseIsoTime,
  type MessageName,
  type Messages,
} from '../../contract/index.ts';
import { suggestion } from '../../platform/suggest.ts';
import { InvalidDocumentError, RequestError } from './errors.ts';

const KNOWN_IDS_SHOWN_MAX = 5;

// The years 1 to 9999: what a Date can represent and ISO 8601 can show with four digits.
const EARLIEST_MS = -62_135_596_800_000;
const LATEST_MS = 253_402_300_799_999;

/** Returns a value as the named message. @throws RequestError `bad_request` with the violations. */
export function parseMessage<Name extends MessageName>(name: Name, value: unknown): Messages[Name] {
  if (isMessage(name, value)) return value;
  throw new RequestError('bad_request', describeMismatch(name, value));
}

function describeMismatch(name: MessageName, value: unknown): string {
  const article = /^[AEIO]/.test(name) ? 'an' : 'a';
  try {
    return `Not ${article} ${name}: ${describeViolations(findViolations(name, value))}.`;
  } catch {
    // The value is nested too deeply to be described, but it is invalid all the same.
    return `The body is not ${article} ${name}.`;
  }
}

/**
 * Checks that no name occurs twice, because the later one would silently replace the earlier one.
 * @param pointerTo Returns the JSON pointer to the name at an index.
 * @param shownAt Returns what to quote in the error for an index; the name itself by default.
 * @throws InvalidDocumentError that points at the second occurrence.
 */
export function checkUnique(
  names: readonly (string | undefined)[],
  pointerTo: (index: number) => string,
  shownAt: (index: number) => string | undefined = (index) => names[index],
): void {
  const indexByName = new Map<string, number>();
  for (const [index, name] of names.entries()) {
    if (name === undefined) continue;
    const first = indexByName.get(name);
    if (first !== undefined) {
      const earlier = pointerTo(first);
      const message = `repeats ${formatValue(shownAt(index))} of ${earlier}`;
      throw new InvalidDocumentError(pointerTo(index), message, earlier);
    }
    indexByName.set(name, index);
  }
}

/**
 * Returns the error for a reference to an unknown id. It suggests the nearest known id, or lists
 * the first known ones. `kind` is the expected thing with its article, such as "an eval".
 */
export function unknownIdError(
  pointer: string,
  kind: string,
  id: string,
  known: readonly string[],
): InvalidDocumentError {
  const ids = [...new Set(known)];
  const more =
    ids.length > KNOWN_IDS_SHOWN_MAX ? ` and ${ids.length - KNOWN_IDS_SHOWN_MAX} more` : '';
  const shown = ids.slice(0, KNOWN_IDS_SHOWN_MAX).join(', ');
  const hint = suggestion(id, ids, ids.length === 0 ? '' : `known ids: ${shown}${more}`);
  const message = `must be the id of ${kind}, got ${formatValue(id)}`;
  return new InvalidDocumentError(pointer, hint === '' ? message : `${message}; ${hint}`);
}

/**
 * Returns an ISO 8601 time of a document in milliseconds since the Unix epoch.
 * @throws InvalidDocumentError when the calendar has no such time.
 */
export function parseInstant(pointer: string, iso: string): number;
export function parseInstant(pointer: string, iso: string | undefined): number | undefined;
export function parseInstant(pointer: string, iso: string | undefined): number | undefined {
  if (iso === undefined) return undefined;
  const ms = parseIsoTime(iso);
  if (ms !== undefined && ms >= EARLIEST_MS && ms <= LATEST_MS) return Math.floor(ms);
  throw new InvalidDocumentError(pointer, `must be a valid date and time, got ${formatValue(iso)}`);
}
