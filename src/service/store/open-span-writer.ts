import type { SpanWriter } from './span-writer.ts';
import { openSpanWriter as openFileWriter } from './sqlite/span-writer.ts';
import type { StoreLocation } from './store.ts';

/** Opens a span writer; a file is created if necessary, and a database must have its tables. */
export async function openSpanWriter(location: StoreLocation): Promise<SpanWriter> {
  if (!('databaseUrl' in location)) return openFileWriter(location);
  // Only a service on PostgreSQL needs its driver.
  const postgres = await import('./postgres/span-writer.ts');
  return postgres.openSpanWriter(location.databaseUrl);
}
