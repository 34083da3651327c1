/** What is deleted when an owner has too many rows of a table: the oldest ones, and never those of others. */
import type { Dialect } from './schema/table.ts';

/** The tables that are limited, with the column that counts their rows up and how many an owner keeps. */
const limits = {
  ingest_log: { counter: 'number', rowsMax: 10_000 },
  // Old links are useless: their turns have been built.
  span_links: { counter: 'key', rowsMax: 500_000 },
} as const;

/**
 * Returns the statement that deletes the rows of an owner beyond the limit. Its two parameters are both
 * the owner. The counter may have gaps, because other owners use it, too.
 */
export function deleteOldest(table: keyof typeof limits, dialect: Dialect): string {
  const { counter, rowsMax } = limits[table];
  const [owner, again] = dialect === 'sqlite' ? ['?', '?'] : ['$1', '$2'];
  return `
    delete from ${table} where owner_id = ${owner} and ${counter} <= (
      select ${counter} from ${table} where owner_id = ${again}
      order by ${counter} desc limit 1 offset ${rowsMax})`;
}

/** Links that an owner can have beyond the limit. */
const LINKS_PER_DELETION = 5_000;

/**
 * Decides when a span writer deletes the oldest links of an owner: after its first links, and then after
 * each few thousand, because finding the oldest takes as long as inserting hundreds.
 */
export class LinkDeletions {
  readonly #newLinks = new Map<string, number>();

  /** Counts new links of an owner, and returns whether its oldest links must be deleted now. */
  isDue(ownerId: string, newLinks: number): boolean {
    if (newLinks === 0) return false;
    const count = (this.#newLinks.get(ownerId) ?? LINKS_PER_DELETION) + newLinks;
    const isDue = count > LINKS_PER_DELETION;
    this.#newLinks.set(ownerId, isDue ? 0 : count);
    return isDue;
  }
}
