import { isObject } from '../../../src/platform/json.ts';
import { isAccepted, isRateLimited, type Exchange } from '../transcript/reading.ts';
import {
  combineProperties,
  createLookup,
  explains,
  nameOf,
  type Combination,
  type SizedProperty,
} from './property.ts';

/** A combination of properties, and how to send a request. */
export interface Sweep<Draft> extends Combination<Draft> {
  /**
   * Sends a request with these properties, and records the names, which include what they imply.
   * Returns undefined if nothing was sent.
   */
  send: (sized: readonly SizedProperty<Draft>[], names: string[]) => Promise<Exchange | undefined>;
  /** Returns whether the connection of a request failed at first. Omit it if no response ends the peer. */
  wasCutOff?: (exchange: Exchange) => boolean;
}

/** The most additional requests that a sweep sends to find the smallest refused ones. */
export const SEARCH_REQUESTS_MAX = 24;
/** Each timeout takes as long as many requests. A broken connection may be a crash, which takes seconds. */
const FAILURES_MAX = { timeouts: 4, others: 12 };
const SIZE_STEPS_MAX = 7;

/** Returns whether a generated request got a reply. */
export function isAnswered(exchange: Exchange): boolean {
  return isAccepted(exchange) && isObject(exchange.json);
}

/**
 * Sends every property in a few requests, one after the other. If one is refused, it searches for the
 * property that the peer refuses, and goes on without it.
 */
export async function sweep<Draft>(options: Sweep<Draft>): Promise<void> {
  const lookup = createLookup(options.properties);
  const search = createSearch(options);
  type Sized = SizedProperty<Draft>;
  const causes: (readonly Sized[])[] = [];
  const isExplained = (one: Sized, cause: Sized): boolean =>
    explains(lookup, nameOf(cause), nameOf(one));
  // If several properties are refused only together, one is left out.
  const withoutCauses = (planned: readonly Sized[]): readonly Sized[] =>
    causes.reduce<readonly Sized[]>(
      (sized, cause) =>
        cause.every((one) => sized.some((other) => isExplained(other, one)))
          ? sized.filter((one) => cause.slice(0, 1).every((first) => !isExplained(one, first)))
          : sized,
      planned,
    );
  let answered: readonly Sized[] | undefined;
  const rows: (readonly Sized[])[] = combineProperties(options);
  for (let planned = rows.shift(); planned; planned = rows.shift()) {
    for (let sized: readonly Sized[] = planned; ;) {
      sized = withoutCauses(sized);
      if (sized.length === 0) break;
      const exchange = await options.send(sized, namesOf(options, sized));
      if (!exchange || isRateLimited(exchange)) return;
      if (isAnswered(exchange)) {
        const wasCutOff = options.wasCutOff?.(exchange) ?? false;
        // The peer may have ended after its response to the request before, which is sent again.
        if (wasCutOff && answered) rows.unshift(answered);
        answered = wasCutOff ? undefined : sized;
        break;
      }
      const found = await search.findCauses(sized, exchange);
      if (found === 'unknown') return;
      if (found.length === 0) break;
      causes.push(found);
      search.countRequest();
    }
  }
}

/** Returns the names of properties and of those that they imply. */
function namesOf<Draft>(
  { imply }: Pick<Combination<Draft>, 'imply'>,
  sized: readonly SizedProperty<Draft>[],
): string[] {
  return [...imply(sized), ...sized].map(nameOf);
}

/** The search was ended before it found the smallest refused request. */
class SearchEnded extends Error {}

interface Search<Draft> {
  countRequest(): void;
  /**
   * Returns the properties of a refused request that cause the refusal: usually one. Empty if the
   * request is accepted when it is sent again.
   */
  findCauses(
    sized: readonly SizedProperty<Draft>[],
    refused: Exchange,
  ): Promise<readonly SizedProperty<Draft>[] | 'unknown'>;
}

/** Counts the requests of a search that got no complete response, up to a limit. */
function createFailureCount(): { add(exchange: Exchange): void; isFull(): boolean } {
  const counts = { timeouts: 0, others: 0 };
  return {
    add({ failure }) {
      if (failure) counts[failure.kind === 'timeout' ? 'timeouts' : 'others'] += 1;
    },
    isFull: () => counts.timeouts >= FAILURES_MAX.timeouts || counts.others >= FAILURES_MAX.others,
  };
}

function createSearch<Draft>({ properties, imply, send }: Sweep<Draft>): Search<Draft> {
  type Sized = SizedProperty<Draft>;
  let requests = 0;
  const failures = createFailureCount();
  /** The kinds of texts that are refused somewhere. */
  const refusedKinds = new Set<string | undefined>();
  let isPlainAccepted = false;

  const isRefused = async (sized: readonly Sized[]): Promise<boolean> => {
    if (requests >= SEARCH_REQUESTS_MAX || failures.isFull()) throw new SearchEnded();
    requests++;
    const exchange = await send(sized, namesOf({ imply }, sized));
    if (!exchange || isRateLimited(exchange)) throw new SearchEnded();
    failures.add(exchange);
    return !isAnswered(exchange);
  };

  const findOne = async (
    sized: readonly Sized[],
    isCostly: boolean,
  ): Promise<Sized | undefined> => {
    // A peer that refuses a kind of text in one place often refuses it in others.
    let suspects = [...imply(sized), ...sized].toSorted(
      (a, b) => Number(isOfRefusedKind(b)) - Number(isOfRefusedKind(a)),
    );
    let isProven = suspects.length === 1;
    while (suspects.length > 1) {
      // After three timeouts in a row nothing more is sent, and most single properties get a reply.
      const count = isCostly ? 1 : Math.ceil(suspects.length / 2);
      const some = suspects.slice(0, count);
      isProven = await isRefused(some);
      suspects = isProven ? [...imply(some), ...some] : suspects.slice(count);
    }
    const [suspect] = suspects;
    return suspect && (isProven || (await isRefused([suspect]))) ? suspect : undefined;
  };

  const isOfRefusedKind = ({ property }: Sized): boolean =>
    property.tries !== undefined && refusedKinds.has(property.tries.kind);

  const findSimplest = async ({ property, size }: Sized): Promise<Sized> => {
    for (const simpler of properties.filter(({ name }) => property.simpler?.includes(name))) {
      const candidate = { property: simpler, size: simpler.sizes?.from ?? 0 };
      if (await isRefused([candidate])) return findSimplest(candidate);
    }
    if (!property.sizes) return { property, size };
    const { least, step = 1 } = property.sizes;
    let [accepted, refused] = [least - step, size];
    for (let tries = 0; tries < SIZE_STEPS_MAX && refused - accepted > step; tries++) {
      const middle = accepted + step * Math.floor((refused - accepted) / step / 2);
      if (await isRefused([{ property, size: middle }])) refused = middle;
      else accepted = middle;
    }
    return { property, size: refused };
  };

  return {
    countRequest() {
      requests++;
    },
    async findCauses(sized, refused) {
      try {
        failures.add(refused);
        if (!isPlainAccepted && (await isRefused([]))) return 'unknown';
        isPlainAccepted = true;
        const one = await findOne(sized, refused.failure !== undefined);
        if (!one) return await findTogether(sized, isRefused);
        const simplest = await findSimplest(one);
        refusedKinds.add(simplest.property.tries?.kind);
        return [simplest];
      } catch (error) {
        if (error instanceof SearchEnded) return 'unknown';
        throw error;
      }
    },
  };
}

/**
 * Returns the properties that are refused only together; empty if they are accepted now. Finds the last
 * one that is needed, then the last one of those before it, and so on.
 */
async function findTogether<Sized>(
  sized: readonly Sized[],
  isRefused: (some: readonly Sized[]) => Promise<boolean>,
): Promise<readonly Sized[]> {
  if (!(await isRefused(sized))) return [];
  let needed: readonly Sized[] = [];
  let before = sized;
  while (before.length > 0) {
    if (needed.length > 0 && (await isRefused(needed))) return needed;
    let [accepted, refused] = [0, before.length];
    while (refused - accepted > 1) {
      const middle = Math.floor((accepted + refused) / 2);
      if (await isRefused([...before.slice(0, middle), ...needed])) refused = middle;
      else accepted = middle;
    }
    needed = [...before.slice(refused - 1, refused), ...needed];
    before = before.slice(0, refused - 1);
  }
  return needed;
}
