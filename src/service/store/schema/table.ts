/**
 * What a table is described with, once for both databases: its columns, keys, and indexes.
 *
 * In PostgreSQL, each table that belongs to owners has `owner_id` as the first column of every key and
 * index, so that tables can be distributed by owner. A description leaves it out where SQLite, which has
 * one file for all owners, does not need it.
 */
import type { Generated } from 'kysely';

/** The databases that have tables. */
export type Dialect = 'sqlite' | 'postgres';

/** A column. `Value` is its type in a row. */
export interface Column<Value = unknown> {
  /** Its type in each database. */
  readonly types: Readonly<Record<Dialect, string>>;
  /** Whether it is compared or sorted: in PostgreSQL, too, by the code points of its characters. */
  readonly isSorted?: boolean;
  readonly isNullable?: boolean;
  readonly default?: string | number;
  /** The only values that the databases accept. */
  readonly values?: readonly string[];
  /** The table whose key it is. */
  readonly references?: Reference;
  /** SQLite counts rows with it. A number that `isNeverReused` is not used again after a deletion. */
  readonly rowId?: { isNeverReused: boolean };
  /** The sequence that counts rows in PostgreSQL. */
  readonly sequence?: string;
  /** Whether values can be longer than an entry of an index. PostgreSQL then has their digest in keys. */
  readonly isLong?: boolean;
  /** The only database that has it. */
  readonly only?: Dialect;
  /** The type of its values. Exists only as a type. */
  readonly valueType?: Value;
}

/** A table that a column refers to. */
export interface Reference {
  table: string;
  /** The only database that checks it. */
  only?: Dialect;
}

type Columns = Readonly<Record<string, Column>>;

/** A table. */
export interface Table<Described extends Columns = Columns> extends Keys<string> {
  readonly columns: Described;
  readonly indexes?: Readonly<Record<string, Index<string>>>;
  /** Whether it belongs to no owner, or leads to one. */
  readonly isShared?: boolean;
  /** Whether SQLite stores its rows in the order of the primary key. */
  readonly isClustered?: boolean;
  /** Whether triggers write its rows, from those of another table. */
  readonly isDerived?: boolean;
  /** The only database that has it. */
  readonly only?: Dialect;
  /** What differs in SQLite. */
  readonly sqlite?: Partial<Keys<string>>;
  /** What differs in PostgreSQL. */
  readonly postgres?: Partial<Keys<string>> & { partitionBy?: string };
}

/** The keys of a table. A key that SQLite counts rows with needs to be in no other place. */
interface Keys<Name extends string> {
  readonly primaryKey: readonly Name[];
  readonly unique?: readonly (readonly Name[])[];
}

/** An index. */
export interface Index<Name extends string> extends IndexDetails<Name> {
  readonly on: readonly (Name | `${Name} desc`)[];
  /** Whether it is for background work that reads the rows of all owners. */
  readonly isAcrossOwners?: boolean;
  /** The only database that has it. */
  readonly only?: Dialect;
  /** What differs in SQLite. */
  readonly sqlite?: IndexDetails<Name>;
  /** What differs in PostgreSQL. */
  readonly postgres?: IndexDetails<Name>;
}

interface IndexDetails<Name extends string> {
  /** Columns that a query can then read from the index alone. */
  readonly include?: readonly Name[];
  /** The rows that are in it. */
  readonly where?: string;
}

type Name<Described extends Columns> = keyof Described & string;

/** What a table has besides its columns. */
interface TableDetails<Described extends Columns>
  extends Keys<Name<Described>>, Pick<Table, 'isShared' | 'isClustered' | 'isDerived' | 'only'> {
  readonly indexes?: Readonly<Record<string, Index<Name<Described>>>>;
  readonly sqlite?: Partial<Keys<Name<Described>>>;
  readonly postgres?: Partial<Keys<Name<Described>>> & { partitionBy?: string };
}

/** Describes a table. */
export const table = <Described extends Columns>(
  columns: Described,
  details: TableDetails<Described>,
): Table<Described> => ({ columns, ...details });

/** The row of a table, for Kysely. */
export type Row<Described extends Table> =
  Described extends Table<infer Columns>
    ? { [Name in keyof Columns]: Columns[Name] extends Column<infer Value> ? Value : never }
    : never;

export const text: Column<string> = { types: { sqlite: 'text', postgres: 'text' } };

/** A text that is compared or sorted. */
export const sortedText: Column<string> = { ...text, isSorted: true };

/** A text column with a narrower type in TypeScript. */
export const textOf = <Value extends string>(type = text): Column<Value> => type as Column<Value>;

/** A text that can only be one of these values. */
export const oneOf = <const Value extends string>(
  values: readonly Value[],
  type = text,
): Column<Value> => ({ ...textOf<Value>(type), values });

/** A whole number below 2^31, or 0 and 1 for a boolean. */
export const integer: Column<number> = { types: { sqlite: 'integer', postgres: 'integer' } };

/** A whole number below 2^53, such as a time in milliseconds. */
export const long: Column<number> = { types: { sqlite: 'integer', postgres: 'bigint' } };

/** A time in nanoseconds. */
export const nanoseconds: Column<bigint> = { types: { sqlite: 'integer', postgres: 'bigint' } };

export const real: Column<number> = { types: { sqlite: 'real', postgres: 'double precision' } };

export const bytes: Column<Buffer> = { types: { sqlite: 'blob', postgres: 'bytea' } };

/** A time when something ends by the clock of the database. */
export const databaseTime: Column<Date> = {
  types: { sqlite: 'text', postgres: 'timestamp with time zone' },
};

/** A number that counts rows up, in PostgreSQL over all tables and owners. */
export const rowNumber: Column<Generated<number>> = { types: long.types, sequence: 'row_keys' };

/** The number of a row, which both databases assign. */
export const rowKey = { ...rowNumber, rowId: { isNeverReused: false } };

/** The owner of a row. */
export const owner: Column<string> = { ...sortedText, references: { table: 'owners' } };

/** The `key` of a row in another table. Rows are deleted with it. */
export const keyOf = (table: string, { only }: Pick<Reference, 'only'> = {}): Column<number> => ({
  ...long,
  references: { table, ...(only && { only }) },
});

export const nullable = <Value>(column: Column<Value>): Column<Value | null> =>
  change(column, { isNullable: true });

/** A column that an insert may leave out. */
export const withDefault = <Value extends string | number>(
  column: Column<Value>,
  initial: Value,
): Column<Generated<Value>> => change(column, { default: initial });

/** A column that SQLite does not have. An insert may leave it out. */
export const onlyInPostgres = <Value>(column: Column<Value>): Column<Generated<Value>> =>
  change(column, { only: 'postgres' });

const change = <Value>(column: Column, changes: Partial<Column>): Column<Value> =>
  ({ ...column, ...changes }) as Column<Value>;

/** Returns the columns that a table has in a database, in their order. */
export function columnsIn({ columns, isShared }: Table, dialect: Dialect): Columns {
  const own = Object.fromEntries(
    Object.entries(columns).filter(([, { only }]) => only === undefined || only === dialect),
  );
  if (dialect === 'sqlite' || isShared) return own;
  return { owner_id: sortedText, ...own };
}

/** Returns the tables, or the indexes of a table, that a database has. */
export const listIn = <Described extends { only?: Dialect }>(
  described: Readonly<Record<string, Described>>,
  dialect: Dialect,
): [name: string, Described][] =>
  Object.entries(described).filter(([, { only }]) => only === undefined || only === dialect);

/** Returns the check and the default of a column, as in its definition. */
export function describeValues(name: string, column: Column): string[] {
  const { default: initial, values } = column;
  const quote = (value: string | number): string =>
    typeof value === 'number' ? String(value) : `'${value}'`;
  return [
    ...(initial === undefined ? [] : [`default ${quote(initial)}`]),
    ...(values ? [`check (${name} in (${values.map(quote).join(', ')}))`] : []),
  ];
}
