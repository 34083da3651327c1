import type { Random } from '../../../src/platform/random.ts';
import type { RequirementId } from '../requirement.ts';

/** One legal peculiarity of a request, such as two user messages in a row. */
export interface Property<Draft = never, Id extends RequirementId = RequirementId> {
  /** Completes "a request with …". `#` stands for the size. */
  name: string;
  /** The requirement that fails if the peer refuses requests with this property. */
  requirement: Id;
  /** What a report says that this property tries, if it is a text. */
  tries?: { position: string; kind: string };
  /** What the property decides about a request. An area says which places exclude each other. */
  place: string;
  /** The names of simpler properties. If one of them is refused, this one is refused, too. */
  simpler?: readonly string[];
  /**
   * The smallest size to try after a refusal, the smallest one that proves something, the one that
   * every run sends, and the step between sizes.
   */
  sizes?: { least: number; from: number; to: number; step?: number };
  /** Changes the draft of a request. Only ids depend on `random`. */
  apply(draft: Draft, random: Random, size: number): void;
}

/** A property of one request, with its size. A property without sizes has the size 0. */
export interface SizedProperty<Draft> {
  property: Property<Draft>;
  size: number;
}

/** Returns the name of a property with its size, as a recording has it. */
export function nameOf({ property, size }: SizedProperty<never>): string {
  return property.name.replace('#', String(size));
}

/** Finds a property by a name in a recording. Returns undefined for a name of another version. */
export type PropertyLookup = (
  name: string,
) => { property: Property; size: number; isSimpler: (other: string) => boolean } | undefined;

/** Creates a lookup of properties by their recorded names. */
export function createLookup(properties: readonly Property[]): PropertyLookup {
  const byName = new Map(properties.map((property) => [property.name, property]));
  const isSimplerThan = (property: Property, other: string): boolean =>
    (property.simpler ?? []).some((name) => {
      const simpler = byName.get(name);
      return name === other || (simpler !== undefined && isSimplerThan(simpler, other));
    });
  return (name) => {
    const size = Number(/\d+/.exec(name)?.[0] ?? 0);
    const exact = byName.get(name);
    const property = exact ?? byName.get(name.replace(/\d+/, '#'));
    return (
      property && {
        property,
        size: exact ? 0 : size,
        isSimpler: (other) => isSimplerThan(property, other),
      }
    );
  };
}

/**
 * Returns whether the refusal of a property explains the refusal of another one: it is the same and
 * not larger, or it is simpler.
 */
export function explains(lookup: PropertyLookup, cause: string, name: string): boolean {
  const [known, found] = [lookup(cause), lookup(name)];
  if (!known || !found) return cause === name;
  if (known.property === found.property) return known.size <= found.size;
  return found.isSimpler(known.property.name);
}

/** Which properties a sweep sends, and in how many requests. */
export interface Combination<Draft> {
  properties: readonly Property<Draft>[];
  /** The number of requests. */
  requests: number;
  /** Returns whether no request can have properties of both places. */
  isExclusive: (place: string, other: string) => boolean;
  /** Returns whether a defect may depend on properties of both places: some request has both. */
  arePaired: (place: string, other: string) => boolean;
  /** Returns the properties that a request with these ones has, too, such as a number of messages. */
  imply: (sized: readonly SizedProperty<Draft>[]) => SizedProperty<Draft>[];
}

/**
 * Distributes all properties over the requests, the same in every run: each request has about the same
 * number, no two that exclude each other, and some request has both of each pair.
 *
 * @throws {Error} if a property excludes one in every request.
 */
export function combineProperties<Draft>({
  properties,
  requests,
  isExclusive,
  arePaired,
}: Combination<Draft>): SizedProperty<Draft>[][] {
  type Row = Set<Property<Draft>>;
  const rows: Row[] = Array.from({ length: requests }, () => new Set());
  const hasRoom = (row: Row, { place }: Property<Draft>): boolean =>
    [...row].every((one) => !isExclusive(one.place, place));
  const hasPlace = (row: Row, { place }: Property<Draft>): boolean =>
    [...row].some((one) => one.place === place);
  const hasRoomForPartners = (row: Row, { place }: Property<Draft>): boolean =>
    properties.every(
      (other) =>
        !(arePaired(place, other.place) || arePaired(other.place, place)) ||
        isExclusive(place, other.place) ||
        hasRoom(row, other),
    );
  const findShortest = (fits: (row: Row) => boolean): Row | undefined =>
    rows.filter(fits).sort((a, b) => a.size - b.size)[0];
  const conflicts = new Map(
    properties.map((property) => [
      property,
      properties.filter(({ place }) => isExclusive(place, property.place)).length,
    ]),
  );
  // The properties with the most conflicts choose first.
  const inOrder = properties.toSorted((a, b) => (conflicts.get(b) ?? 0) - (conflicts.get(a) ?? 0));
  for (const property of inOrder) {
    // Properties of one place leave more room together.
    const free =
      findShortest((row) => hasPlace(row, property) && hasRoom(row, property)) ??
      findShortest((row) => hasRoom(row, property) && hasRoomForPartners(row, property)) ??
      findShortest((row) => hasRoom(row, property));
    if (!free) throw new Error(`No request has room for ${property.name}.`);
    free.add(property);
  }
  for (const property of inOrder) {
    for (const other of inOrder) {
      const isOpen =
        arePaired(property.place, other.place) &&
        !rows.some((row) => row.has(property) && row.has(other));
      if (!isOpen) continue;
      const withProperty = findShortest((row) => row.has(property) && hasRoom(row, other));
      if (withProperty) withProperty.add(other);
      else findShortest((row) => row.has(other) && hasRoom(row, property))?.add(property);
    }
  }
  return rows.map((row) =>
    properties
      .filter((property) => row.has(property))
      .map((property) => ({ property, size: property.sizes?.to ?? 0 })),
  );
}

/** Applies the properties of a request to a draft, in the order of the table. */
export function applyProperties<Draft>(
  draft: Draft,
  sized: readonly SizedProperty<Draft>[],
  properties: readonly Property<Draft>[],
  random: Random,
): Draft {
  for (const property of properties) {
    const chosen = sized.find((one) => one.property === property);
    // Each property has its own random values, so that it is the same in a smaller request.
    if (chosen) property.apply(draft, random.fork(property.name), chosen.size);
  }
  return draft;
}
