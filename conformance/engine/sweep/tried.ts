import type { Endpoint } from '../../../src/contract/index.ts';
import { requestBytesOf } from '../transcript/body-length.ts';
import { isAccepted, type Transcript } from '../transcript/reading.ts';
import { createLookup, type Property } from './property.ts';

/** What the generated requests of an endpoint contained, and the size of the largest accepted body. */
export interface Tried {
  texts: { positions: string[]; kinds: string[] }[];
  largestBytes: number | undefined;
}

/** Lists what was tried where. Positions with the same kinds are one row. */
export function listTried(
  endpoint: Endpoint,
  properties: readonly Property[],
  { exchanges }: Transcript,
): Tried {
  const sent = exchanges.filter((exchange) => exchange.endpoint === endpoint);
  const lookup = createLookup(properties);
  const names = new Set(sent.flatMap((exchange) => exchange.properties ?? []));
  const tried = new Set([...names].flatMap((name) => lookup(name)?.property ?? []));
  const kindsAt = new Map<string, string[]>();
  for (const property of properties) {
    if (!property.tries || !tried.has(property)) continue;
    const { position, kind } = property.tries;
    const kinds = kindsAt.get(position) ?? [];
    kindsAt.set(position, kinds.includes(kind) ? kinds : [...kinds, kind]);
  }
  const rows = Map.groupBy(kindsAt, ([, kinds]) => kinds.toSorted().join());
  const sizes = sent.filter(isAccepted).map(requestBytesOf);
  return {
    texts: [...rows.values()].map((group) => ({
      positions: group.map(([position]) => position),
      kinds: group[0]?.[1] ?? [],
    })),
    largestBytes: sizes.length === 0 ? undefined : Math.max(...sizes),
  };
}
