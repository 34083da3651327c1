import {
  columnsIn,
  describeValues,
  listIn,
  type Column,
  type Index,
  type Table,
} from '../schema/table.ts';
import { tables } from '../schema/tables.ts';
import { CREATE_RATE_LIMITS } from './rate-limit.ts';

/** Returns the statements that create all tables in PostgreSQL. */
export function createTables(): string {
  const described = listIn<Table>(tables, 'postgres');
  const sequences = described.flatMap(([, table]) =>
    Object.values(columnsIn(table, 'postgres')).flatMap(({ sequence }) => sequence ?? []),
  );
  return [
    CREATE_SEARCH,
    ...Array.from(new Set(sequences), (name) => `create sequence ${name};`),
    ...described.map(([name, table]) => createTable(name, table)),
    CREATE_SHARED_TABLES,
  ].join('\n');
}

/** A function of SQLite. */
const CREATE_SEARCH = `
create function instr(haystack text, needle text) returns integer
  language sql immutable parallel safe return strpos(haystack, needle);
`;

/** What the processes of the service share, and SQLite does not have. Only SQL of PostgreSQL reads it. */
const CREATE_SHARED_TABLES = `
-- receives the spans of days that have no partition
create table spans_default partition of spans default;

create table service_values (
  -- what all processes of the service share, such as the development key
  name text collate "C" primary key,
  value text not null
);

create table shared_state (
  -- what a test sets through /__admin for all replicas, and how often it was changed
  only_row boolean primary key default true check (only_row),
  generation bigint not null,
  value text not null
);

create table replicas (
  -- the running processes, the generation of the shared state that each has applied, the digests of the
  -- keys with which it was started, sorted, and its options that must be the same on all, as JSON
  id text collate "C" primary key,
  generation bigint not null,
  seen_at timestamptz not null,
  key_digests text[] collate "C" not null,
  settings text not null default '{}'
);

create table seed_documents (
  owner_id text collate "C" primary key references owners (id),
  document text not null
);

${CREATE_RATE_LIMITS};
`;

function createTable(name: string, table: Table): string {
  const columns = columnsIn(table, 'postgres');
  const { primaryKey, unique = [], partitionBy } = { ...table, ...table.postgres };
  const keyOf = (key: readonly string[]): string =>
    startWithOwner(key, table)
      .map((column) => (columns[column]?.isLong ? digestOf(column) : column))
      .join(', ');
  const definitions = [
    ...Object.entries(columns).flatMap(([column, details]) => defineColumn(column, details)),
    `primary key (${keyOf(primaryKey)})`,
    ...unique.map((key) => `unique (${keyOf(key)})`),
    ...Object.entries(columns).flatMap(([column, details]) => defineForeignKey(column, details)),
  ];
  const partitions = partitionBy === undefined ? '' : ` partition by ${partitionBy}`;
  const indexes = listIn(table.indexes ?? {}, 'postgres').map(([index, details]) =>
    createIndex(index, details, { name, table }),
  );
  return [
    `create table ${name} (\n  ${definitions.join(',\n  ')}\n)${partitions};`,
    ...indexes,
  ].join('\n');
}

/** Returns the columns of a key or an index, the owner first unless the table belongs to none. */
const startWithOwner = (columns: readonly string[], { isShared }: Table): readonly string[] =>
  isShared || columns[0] === 'owner_id' ? columns : ['owner_id', ...columns];

const digestOf = (column: string): string => `${column}_digest`;

function defineColumn(name: string, column: Column): string[] {
  const { sequence, references, isLong } = column;
  const definition = [
    `${name} ${column.types.postgres}`,
    ...(column.isSorted ? ['collate "C"'] : []),
    ...(column.isNullable ? [] : ['not null']),
    ...(sequence === undefined ? [] : [`default nextval('${sequence}')`]),
    ...describeValues(name, column),
    ...(references?.table === 'owners' ? ['references owners (id)'] : []),
  ].join(' ');
  return isLong
    ? [definition, `${digestOf(name)} text generated always as (md5(${name})) stored`]
    : [definition];
}

function defineForeignKey(name: string, { references }: Column): string[] {
  if (!references || references.table === 'owners' || references.only === 'sqlite') return [];
  const target = `${references.table} (owner_id, key)`;
  return [`foreign key (owner_id, ${name}) references ${target} on delete cascade`];
}

function createIndex(
  name: string,
  index: Index<string>,
  of: { name: string; table: Table },
): string {
  const { on, include = [], where } = { ...index, ...index.postgres };
  const columns = index.isAcrossOwners ? on : startWithOwner(on, of.table);
  return [
    `create index ${name} on ${of.name} (${columns.join(', ')})`,
    ...(include.length > 0 ? [`include (${include.join(', ')})`] : []),
    ...(where === undefined ? [] : [`where ${where}`]),
  ]
    .join('\n  ')
    .concat(';');
}
