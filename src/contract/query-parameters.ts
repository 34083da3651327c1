import { parseIsoTime } from './iso8601.ts';
import type { Route, RouteParameter } from './routes/route.ts';

/** A parameter that occurs several times, or whose value is not of its type. */
export type QueryProblem = { parameter: string } & (
  { occurrences: number } | { expected: string; value: string }
);

interface ValueType {
  expected: string;
  isValid: (value: string) => boolean;
}

const TIME: ValueType = {
  expected: 'an ISO 8601 time such as 2026-11-20T09:30:00Z (UTC if it has no offset)',
  isValid: (value) => parseIsoTime(value) !== undefined,
};

/** The types of values that are not plain text, by their JSON type. */
const TYPES: Readonly<Record<string, ValueType>> = {
  boolean: { expected: 'true or false', isValid: (value) => /^(true|false|0|1)$/i.test(value) },
  integer: { expected: 'a whole number of 0 or more', isValid: (value) => /^\d+$/.test(value) },
};

/** Returns the query parameters of a route, such as one that lists sessions (spec 4.3, 4.4). */
export const listQueryParameters = ({ parameters }: Route): RouteParameter[] =>
  parameters.filter((parameter) => parameter.in === 'query');

/** Returns what is wrong with the parameters of a route in a query, in the order of the route. */
export function findQueryProblems(route: Route, query: URLSearchParams): QueryProblem[] {
  return listQueryParameters(route).flatMap(({ name, schema }): QueryProblem[] => {
    const [value, ...others] = query.getAll(name);
    if (others.length > 0) return [{ parameter: name, occurrences: others.length + 1 }];
    const type = schema['format'] === 'iso8601' ? TIME : TYPES[String(schema['type'])];
    if (value === undefined || !type || type.isValid(value)) return [];
    return [{ parameter: name, expected: type.expected, value }];
  });
}
