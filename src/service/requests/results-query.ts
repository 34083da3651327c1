import {
  formatValue,
  PAGE_LIMIT_DEFAULT,
  PAGE_LIMIT_MAX,
  parseIsoTime,
} from '../../contract/index.ts';
import { ParameterError } from './errors.ts';
import type { SessionFilter, SessionKind } from '../store/store.ts';

/** The parsed query of a results endpoint. */
export interface ResultsQuery {
  filter: SessionFilter;
  includeTraces: boolean;
}

/**
 * Reads the query of a results endpoint (spec 4.3, 4.4). Ignores unknown parameters and empty names.
 * @throws ParameterError for an invalid value or a repeated parameter.
 */
export function readResultsQuery(
  kind: SessionKind,
  ownerId: string,
  query: URLSearchParams,
): ResultsQuery {
  const names = kind === 'simulation' ? (['agent', 'eval'] as const) : (['run', 'eval'] as const);
  const filter: SessionFilter = {
    ownerId,
    kind,
    failedOnly: readBoolean(query, 'failed_only'),
    skip: readCount(query, 'skip', 0),
    limit: Math.min(readCount(query, 'limit', PAGE_LIMIT_DEFAULT), PAGE_LIMIT_MAX),
  };
  for (const name of names) {
    const text = readText(query, name);
    if (text !== undefined && text !== '') filter[name] = text;
  }
  const after = readInstant(query, 'started_after');
  const before = readInstant(query, 'started_before');
  // Session start times are whole milliseconds.
  if (after !== undefined) filter.startedAfterMs = Math.ceil(after);
  if (before !== undefined) filter.startedBeforeMs = Math.floor(before);
  return { filter, includeTraces: readBoolean(query, 'include_traces') };
}

function readText(query: URLSearchParams, name: string): string | undefined {
  const values = query.getAll(name);
  if (values.length > 1) {
    throw new ParameterError(name, `occurs ${values.length} times. Send it once.`);
  }
  return values[0];
}

const BOOLEANS: Record<string, boolean> = { true: true, false: false, 1: true, 0: false };

function readBoolean(query: URLSearchParams, name: string): boolean {
  const text = readText(query, name);
  if (text === undefined) return false;
  const value = text.toLowerCase();
  if (Object.hasOwn(BOOLEANS, value)) return BOOLEANS[value] ?? false;
  throw new ParameterError(name, `must be true or false, got ${formatValue(text)}.`);
}

function readCount(query: URLSearchParams, name: string, defaultValue: number): number {
  const text = readText(query, name);
  if (text === undefined) return defaultValue;
  if (/^\d+$/.test(text)) return Math.min(Number(text), Number.MAX_SAFE_INTEGER);
  throw new ParameterError(name, `must be a whole number of 0 or more, got ${formatValue(text)}.`);
}

function readInstant(query: URLSearchParams, name: string): number | undefined {
  const text = readText(query, name);
  if (text === undefined) return undefined;
  // A `+` of a UTC offset that was not percent-encoded arrives as a space.
  const iso = text.replace(/ (?=\d\d(?::?\d\d)?$)/, '+');
  const ms = parseIsoTime(iso);
  if (ms !== undefined) return ms;
  throw new ParameterError(
    name,
    'must be an ISO 8601 time such as 2026-11-20T09:30:00Z (UTC if it has no offset), ' +
      `got ${formatValue(text)}.`,
  );
}
