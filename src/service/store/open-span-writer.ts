import type { StoreLocation } from './location.ts';
import { openPool } from './postgres/pool.ts';
import { createSpanWriter } from './postgres/span-writer.ts';
import type { SpanWriter } from './span-writer.ts';
import { openSpanWriter as openFileWriter } from './sqlite/span-writer.ts';

/** Exporters wait for 10 s, and a batch waits for the one before it. */
const LIMITS = { connectMsMax: 3_000, statementMsMax: 5_000, lockMsMax: 3_000 };

/** Opens a span writer; a file is created if necessary, and a database must have its tables. */
export function openSpanWriter(location: StoreLocation): SpanWriter {
  return 'databaseUrl' in location
    ? createSpanWriter(openPool(location.databaseUrl, LIMITS))
    : openFileWriter(location);
}
