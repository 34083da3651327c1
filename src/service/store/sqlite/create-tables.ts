import {
  columnsIn,
  describeValues,
  listIn,
  type Column,
  type Index,
  type Table,
} from '../schema/table.ts';
import { tables } from '../schema/tables.ts';

/** Returns the statements that create all tables in SQLite. */
export const createTables = (): string =>
  [
    ...listIn<Table>(tables, 'sqlite').map(([name, table]) => createTable(name, table)),
    STORE_ID,
  ].join('\n');

/** An id of the file, so that a start notices if another file took its place. */
const STORE_ID = `
create table store_id (id text primary key) strict, without rowid;
insert into store_id values (lower(hex(randomblob(16))));
`;

function createTable(name: string, table: Table): string {
  const columns = columnsIn(table, 'sqlite');
  const { primaryKey, unique = [] } = { ...table, ...table.sqlite };
  const rowId = Object.keys(columns).find((column) => columns[column]?.rowId);
  const keys = [
    ...(primaryKey.join() === rowId
      ? []
      : [`${rowId ? 'unique' : 'primary key'} (${primaryKey.join(', ')})`]),
    ...unique.map((key) => `unique (${key.join(', ')})`),
  ];
  const definitions = Object.entries(columns).map(([column, details]) =>
    defineColumn(column, details),
  );
  const indexes = listIn(table.indexes ?? {}, 'sqlite').map(([index, details]) =>
    createIndex(index, details, { name, rowId }),
  );
  return [
    `create table ${name} (\n  ${[...definitions, ...keys].join(',\n  ')}\n) strict${table.isClustered ? ', without rowid' : ''};`,
    ...indexes,
  ].join('\n');
}

function defineColumn(name: string, column: Column): string {
  const { rowId, references } = column;
  const type = column.types.sqlite;
  if (rowId) return `${name} ${type} primary key${rowId.isNeverReused ? ' autoincrement' : ''}`;
  return [
    `${name} ${type}`,
    ...(column.isNullable ? [] : ['not null']),
    ...describeValues(name, column),
    ...(references ? [describeReference(references.table)] : []),
  ].join(' ');
}

const describeReference = (table: string): string =>
  table === 'owners' ? 'references owners (id)' : `references ${table} (key) on delete cascade`;

/** SQLite has the number of the row in each index. */
function createIndex(
  name: string,
  index: Index<string>,
  table: { name: string; rowId: string | undefined },
): string {
  const { on, include = [], where } = { ...index, ...index.sqlite };
  const columns = [...on, ...include.filter((column) => column !== table.rowId)];
  const condition = where === undefined ? '' : `\n  where ${where}`;
  return `create index ${name} on ${table.name} (${columns.join(', ')})${condition};`;
}
