import {
  findQueryProblems,
  formatValue,
  PAGE_LIMIT_DEFAULT,
  PAGE_LIMIT_MAX,
  parseIsoTime,
  type QueryProblem,
  serviceRoutes,
} from '../../contract/index.ts';
import { ParameterError } from './errors.ts';
import type { SessionFilter, SessionKind } from '../store/store.ts';

/** The parsed query of a results endpoint. */
export interface ResultsQuery {
  filter: SessionFilter;
  includeTraces: boolean;
}

const ENDPOINTS = {
  simulation: { route: serviceRoutes.listSimulationSessions, names: ['agent', 'eval'] },
  production: { route: serviceRoutes.listProductionSessions, names: ['run', 'eval'] },
} as const;

/**
 * Reads the query of a results endpoint (spec 4.3, 4.4). Ignores unknown parameters and empty names.
 * @throws ParameterError that names all invalid values and repeated parameters.
 */
export function readResultsQuery(
  kind: SessionKind,
  ownerId: string,
  sent: URLSearchParams,
): ResultsQuery {
  const { route, names } = ENDPOINTS[kind];
  const query = new URLSearchParams([...sent].map(restoreOffset));
  rejectProblems(findQueryProblems(route, query));
  const filter: SessionFilter = {
    ownerId,
    kind,
    failedOnly: readBoolean(query, 'failed_only'),
    skip: readCount(query, 'skip', 0),
    limit: Math.min(readCount(query, 'limit', PAGE_LIMIT_DEFAULT), PAGE_LIMIT_MAX),
  };
  for (const name of names) {
    const text = query.get(name) ?? '';
    if (text !== '') filter[name] = text;
  }
  const after = parseIsoTime(query.get('started_after') ?? '');
  const before = parseIsoTime(query.get('started_before') ?? '');
  // Session start times are whole milliseconds.
  if (after !== undefined) filter.startedAfterMs = Math.ceil(after);
  if (before !== undefined) filter.startedBeforeMs = Math.floor(before);
  return { filter, includeTraces: readBoolean(query, 'include_traces') };
}

/** A `+` of a UTC offset that was not percent-encoded arrives as a space. */
const restoreOffset = ([name, value]: [string, string]): [string, string] =>
  name.startsWith('started_') ? [name, value.replace(/ (?=\d\d(?::?\d\d)?$)/, '+')] : [name, value];

function rejectProblems(problems: readonly QueryProblem[]): void {
  const described = problems.map((problem) => ({
    parameter: problem.parameter,
    problem:
      'occurrences' in problem
        ? `occurs ${problem.occurrences} times. Send it once.`
        : `must be ${problem.expected}, got ${formatValue(problem.value)}.`,
  }));
  const [first, ...others] = described;
  if (first) throw new ParameterError(first.parameter, first.problem, others);
}

const readBoolean = (query: URLSearchParams, name: string): boolean =>
  /^(true|1)$/i.test(query.get(name) ?? '');

const readCount = (query: URLSearchParams, name: string, defaultValue: number): number =>
  Math.min(Number(query.get(name) ?? defaultValue), Number.MAX_SAFE_INTEGER);
