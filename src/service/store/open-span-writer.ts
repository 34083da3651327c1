import type { StoreLocation } from './location.ts';
import { openPool } from './postgres/pool.ts';
import { createSpanWriter } from './postgres/span-writer.ts';
import type { SpanWriter } from './span-writer.ts';
import { openSpanWriter as openFileWriter } from './sqlite/span-writer.ts';

/** Opens a span writer; a file is created if necessary, and a database must have its tables. */
export function openSpanWriter(location: StoreLocation): SpanWriter {
  return 'databaseUrl' in location
    ? createSpanWriter(openPool(location.databaseUrl))
    : openFileWriter(location);
}
