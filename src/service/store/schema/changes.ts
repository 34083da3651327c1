/**
 * The versions of the tables. A new database gets the tables as `tables.ts` describes them, with the
 * newest version. An older one gets the changes since its version. Both get the newest triggers then.
 */
import { addAgentIds } from './add-agent-ids.ts';
import { addRequestIds } from './add-request-ids.ts';
import { addSessionCounts } from './add-session-counts.ts';
import { addSessionTables } from './add-session-tables.ts';

/** A change of existing tables, by statements for each database. */
export interface SchemaChange {
  sqlite: string;
  postgres: string;
}

/** The version of the first release. Versions 1 to 19 were never published. */
const FIRST_VERSION = 20;

/**
 * The changes after the first version, in order; each makes the next version. Never change a published
 * one.
 */
export const schemaChanges: readonly SchemaChange[] = [
  addSessionTables,
  addAgentIds,
  addSessionCounts,
  addRequestIds,
];

/** Returns the newest version. */
export const newestVersion = (changes: readonly SchemaChange[] = schemaChanges): number =>
  FIRST_VERSION + changes.length;

/** Returns the changes that a database with a version needs. */
export const changesSince = (
  version: number,
  changes: readonly SchemaChange[] = schemaChanges,
): readonly SchemaChange[] => changes.slice(version - FIRST_VERSION);

/** Returns why a database with a version can't be used, and what to do; undefined if it can. */
export function describeUnsupported(
  { name, version, advice }: { name: string; version: number; advice: string },
  changes: readonly SchemaChange[] = schemaChanges,
): string | undefined {
  const newest = newestVersion(changes);
  if (version > newest) {
    return (
      `${name} has version ${version}, but this program supports only versions up to ${newest}. ` +
      'Update the program.'
    );
  }
  if (version < FIRST_VERSION) {
    return (
      `${name} was written by an earlier, unpublished version of this program: it has version ` +
      `${version}, and this program supports only versions from ${FIRST_VERSION} on. Nothing was ` +
      `changed. ${advice}`
    );
  }
  return undefined;
}
