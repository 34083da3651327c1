import type { Endpoint } from '../../../src/contract/index.ts';
import { formatList } from '../../../src/report-kit/format.ts';
import type { Repair } from '../../engine/checks/check.ts';
import {
  isServiceEndpoint,
  routeNames,
  serviceEndpoints,
} from '../../engine/checks/route-names.ts';
import { findOwnMessage } from '../../engine/transcript/own-message.ts';
import { PREFLIGHT, toPrintable, type Exchange } from '../../engine/transcript/reading.ts';

/** Returns whether an exchange is with the service. */
export const isToService = ({ endpoint }: Exchange): boolean => isServiceEndpoint(endpoint);

/** Names the routes of exchanges: "POST /users and DELETE /users/{user_id}". */
function describeRoutes(seen: readonly Exchange[]): string {
  const endpoints: readonly Endpoint[] = seen.some(isToService)
    ? serviceEndpoints
    : ['chat', 'health', 'create', 'delete'];
  const shown = endpoints.filter((endpoint) =>
    seen.some((exchange) => exchange.endpoint === endpoint),
  );
  return shown.length === endpoints.length
    ? 'All routes'
    : formatList(shown.map((endpoint) => routeNames[endpoint]));
}

/** Counts exchanges and names one of them: `12 responses, e.g. exchange 3 "minimal"`. */
export function describeSeen(seen: readonly [Exchange, ...Exchange[]]): string {
  const { id, step } = findExample(seen);
  return seen.length === 1
    ? `exchange ${id} "${step}"`
    : `${seen.length} responses, e.g. exchange ${id} "${step}"`;
}

/**
 * Returns the same exchange in every run: of the preflight if possible, then a valid request, then the
 * first by name.
 */
export function findExample(seen: readonly [Exchange, ...Exchange[]]): Exchange {
  const nameOf = ({ probe, endpoint, intent, step }: Exchange): string =>
    `${probe === PREFLIGHT ? 0 : 1} ${intent === 'valid' ? 0 : 1} ${endpoint} ${step}`;
  return seen.reduce((best, other) => (nameOf(other) < nameOf(best) ? other : best));
}

/** Quotes the message of an error, the title of a page, or the start of another body. */
export function quoteBody(exchange: Exchange): string {
  const text = toPrintable(findOwnMessage(exchange) ?? exchange.response?.body ?? '', 100);
  return text === '' ? 'an empty body' : JSON.stringify(text);
}

/** A defect that is recognized in responses. */
export interface Diagnosis {
  /** The exchanges that show it; at least one. */
  seen: readonly [Exchange, ...Exchange[]];
  /** Other exchanges that failed only because of them (default: none). */
  consequences?: readonly Exchange[];
  /** What was seen, without the routes. */
  fault: string;
  /** What to do: a sentence without the full stop. */
  cure: string;
  /** Returns the response that the cure leads to. */
  repair: (exchange: Exchange) => NonNullable<Exchange['response']>;
}

/** A defect of one body. Bodies with the same kind of defect get one diagnosis. */
export interface BodyDefect extends Pick<Diagnosis, 'fault' | 'cure' | 'repair'> {
  kind: string;
}

/** Creates a diagnosis for each kind of defect that bodies have. */
export function diagnoseBodies(
  exchanges: readonly Exchange[],
  findDefect: (exchange: Exchange) => BodyDefect | undefined,
): Diagnosis[] {
  const defects = new Map<number, BodyDefect>();
  for (const exchange of exchanges) {
    const defect = findDefect(exchange);
    if (defect) defects.set(exchange.id, defect);
  }
  const defective = exchanges.filter(({ id }) => defects.has(id));
  const groups = Map.groupBy(defective, ({ id }) => defects.get(id)?.kind);
  return [...groups.values()].flatMap((group) => {
    const seen = nonEmpty(group);
    const example = seen && defects.get(findExample(seen).id);
    if (!example) return [];
    const { fault, cure } = example;
    return [
      {
        seen,
        cure,
        fault: `${fault} (${describeSeen(seen)})`,
        // The exchange may have been repaired before, and then it is another object with the same id.
        repair: (exchange) => (defects.get(exchange.id) ?? example).repair(exchange),
      },
    ];
  });
}

/** Creates the repair of a diagnosis. It concerns only the exchanges that show the defect or its consequences. */
export function toRepair({ seen, consequences = [], fault, cure, repair }: Diagnosis): Repair {
  const ids = new Set([...seen, ...consequences].map(({ id }) => id));
  return {
    description: `${describeRoutes(seen)}: ${fault}. ${cure}`,
    apply: (exchange) => (ids.has(exchange.id) ? { response: repair(exchange) } : undefined),
  };
}

/** Returns the exchanges as a list that can't be empty; undefined if it is. */
export function nonEmpty(
  seen: readonly Exchange[],
): readonly [Exchange, ...Exchange[]] | undefined {
  const [first, ...others] = seen;
  return first && [first, ...others];
}
