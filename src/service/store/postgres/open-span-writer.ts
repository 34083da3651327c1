import type { SpanWriter } from '../span-writer.ts';
import { openPool } from './pool.ts';
import { createSpanWriter } from './span-writer.ts';

/** Exporters wait for 10 s, and a batch waits for the one before it. */
const LIMITS = { connectMsMax: 3_000, statementMsMax: 5_000, lockMsMax: 3_000 };

/** Opens a span writer with its own connections; the database must have its tables. */
export function openPostgresSpanWriter(databaseUrl: string): SpanWriter {
  return createSpanWriter(openPool(databaseUrl, LIMITS));
}
