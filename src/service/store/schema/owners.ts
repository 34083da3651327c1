import type { IngestLogEntry } from '../records.ts';
import {
  bytes,
  integer,
  long,
  nullable,
  oneOf,
  owner,
  rowKey,
  rowNumber,
  sortedText,
  table,
  text,
  textOf,
  withDefault,
} from './table.ts';

/** The tables of owners, and of what an owner has besides conversations and sessions. */
export const ownerTables = {
  /** Keys belong to an owner; owners never see each other's data. */
  owners: table(
    { id: sortedText, name: sortedText },
    { primaryKey: ['id'], unique: [['name']], isShared: true },
  ),

  keys: table(
    {
      /** SHA-256 of the key, in lower-case hexadecimal; the key itself is not stored. */
      digest: sortedText,
      owner_id: owner,
      /** 1: from the configuration, replaced on the next start; 0: added later, permanent. */
      configured: integer,
      /** Random; names a key to callers, who see neither the key nor its digest. */
      id: nullable(sortedText),
      /** Null if the caller gave none. */
      label: nullable(text),
      /** Null if it is from the configuration. */
      created_at_ms: nullable(long),
    },
    { primaryKey: ['digest'], unique: [['id']], isShared: true },
  ),

  evals: table(
    {
      key: rowKey,
      owner_id: owner,
      id: sortedText,
      /** JSON: the whole definition. */
      definition: text,
    },
    { primaryKey: ['owner_id', 'id'] },
  ),

  /** Documents that simulations refer to. */
  documents: table(
    {
      key: rowKey,
      owner_id: owner,
      kind: oneOf(['agent', 'persona', 'scenario']),
      id: sortedText,
      /** JSON: the whole document without the secret. */
      document: text,
      /** API key of an agent's sandbox in plain text, because it has to be sent; never listed. */
      secret: nullable(text),
    },
    { primaryKey: ['owner_id', 'kind', 'id'] },
  ),

  /** The newest reports of each kind about an agent. */
  agent_reports: table(
    {
      // Never reused, so that links stay right.
      key: { ...rowKey, rowId: { isNeverReused: true } },
      owner_id: owner,
      /** Id of the agent in `documents`. */
      agent_id: sortedText,
      kind: oneOf(['connection', 'check', 'load']),
      /** When it was attached. */
      at_ms: long,
      /** JSON object: verdict, counts, and version, so that lists need not read the report. */
      summary: text,
      /** JSON: the whole report as attached. */
      report: text,
    },
    {
      primaryKey: ['key'],
      indexes: { agent_reports_newest: { on: ['owner_id', 'agent_id', 'kind', 'key desc'] } },
    },
  ),

  /** Settings of live traces (spec 2.2); without a row, the defaults apply. */
  settings: table(
    {
      owner_id: owner,
      /** JSON array of eval ids. */
      evals: text,
      run_name: text,
      /** Problems up to this time are not on the overview. */
      problems_dismissed_at_ms: withDefault(long, 0),
    },
    { primaryKey: ['owner_id'] },
  ),

  /** The pages that forms led to, for minutes. */
  form_results: table(
    {
      key: rowKey,
      owner_id: owner,
      /** Derived from the id in the address of the page, which alone can decrypt the content. */
      id: sortedText,
      expires_at_ms: long,
      bytes: long,
      content: bytes,
    },
    { primaryKey: ['owner_id', 'id'] },
  ),

  ingest_log: table(
    {
      owner_id: owner,
      /** Counts up for each owner in SQLite, and for all in PostgreSQL, so that the oldest can be deleted. */
      number: rowNumber,
      at_ms: long,
      level: textOf<IngestLogEntry['level']>(),
      code: text,
      message: text,
      /** JSON object: ids and counts, never conversation text. */
      about: text,
    },
    { primaryKey: ['owner_id', 'number'], isClustered: true },
  ),
};
