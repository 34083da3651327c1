import { brief, ISO_8601, pageLimitDefault, pageLimitMax } from '../../contract/index.ts';
import { utcInstantMs } from '../../platform/utc-instant.ts';
import { RequestError } from '../domain/errors.ts';
import type { SessionFilter, SessionKind } from '../store/store.ts';

/** What a request for results asks for. */
export interface ResultsQuery {
  filter: SessionFilter;
  includeTraces: boolean;
}

/**
 * Reads the query of a results endpoint (spec 4.3, 4.4). A parameter that it does not know means
 * nothing; a name that is left empty filters nothing.
 * @throws RequestError `bad_request` for a value that can't be read, or a parameter given twice.
 */
export function readResultsQuery(kind: SessionKind, ownerId: string, url: string): ResultsQuery {
  const mark = url.indexOf('?');
  const query = new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1));
  const names = kind === 'simulation' ? (['agent', 'eval'] as const) : (['run', 'eval'] as const);
  const filter: SessionFilter = {
    ownerId,
    kind,
    failedOnly: readBoolean(query, 'failed_only'),
    skip: readCount(query, 'skip', 0),
    limit: Math.min(readCount(query, 'limit', pageLimitDefault), pageLimitMax),
  };
  for (const name of names) {
    const part = single(query, name);
    if (part !== undefined && part !== '') filter[name] = part;
  }
  const after = readInstant(query, 'started_after');
  const before = readInstant(query, 'started_before');
  // Sessions start at whole milliseconds.
  if (after !== undefined) filter.startedAfterMs = Math.ceil(after);
  if (before !== undefined) filter.startedBeforeMs = Math.floor(before);
  return { filter, includeTraces: readBoolean(query, 'include_traces') };
}

function single(query: URLSearchParams, name: string): string | undefined {
  const values = query.getAll(name);
  if (values.length > 1) {
    throw new RequestError('bad_request', `${name} is given ${values.length} times; give it once`);
  }
  return values[0];
}

const booleans: Record<string, boolean> = { true: true, false: false, 1: true, 0: false };

function readBoolean(query: URLSearchParams, name: string): boolean {
  const text = single(query, name);
  if (text === undefined) return false;
  const word = text.toLowerCase();
  if (Object.hasOwn(booleans, word)) return booleans[word] ?? false;
  throw new RequestError('bad_request', `${name} must be true or false, got ${brief(text)}`);
}

function readCount(query: URLSearchParams, name: string, whenAbsent: number): number {
  const text = single(query, name);
  if (text === undefined) return whenAbsent;
  if (/^\d+$/.test(text)) return Math.min(Number(text), Number.MAX_SAFE_INTEGER);
  const wanted = 'must be a whole number, 0 or more';
  throw new RequestError('bad_request', `${name} ${wanted}, got ${brief(text)}`);
}

function readInstant(query: URLSearchParams, name: string): number | undefined {
  const text = single(query, name);
  if (text === undefined) return undefined;
  // The + of a zone that was not percent-encoded arrives as a space.
  const iso = text.replace(/ (?=\d\d(?::?\d\d)?$)/, '+');
  const ms = ISO_8601.test(iso) ? utcInstantMs(iso) : undefined;
  if (ms !== undefined && !Number.isNaN(ms)) return ms;
  const example = 'e.g. 2026-11-20T09:30:00Z; without a zone it is UTC';
  throw new RequestError(
    'bad_request',
    `${name} must be an ISO 8601 time, ${example}; got ${brief(text)}`,
  );
}
