/** The tables of both databases are those that `schema/tables.ts` describes. */
import t from 'tap';
import {
  columnsIn,
  listIn,
  type Dialect,
  type Table,
} from '../../../src/service/store/schema/table.ts';
import { tables } from '../../../src/service/store/schema/tables.ts';
import { execute, withPostgres } from '../../support/database/postgres.ts';
import { openDatabase, withFileStore } from '../../support/database/store.ts';

/** A table, as the catalog of a database or a description says. */
interface Catalog {
  /** The type of each column, whether it can be null, and its default. */
  columns: Record<string, string>;
  /** The columns of the primary key and of unique keys. */
  keys: string[];
  /** The columns of each index, and whether it has all rows. */
  indexes: Record<string, string>;
  /** The columns that refer to another table. */
  references: string[];
}

const columnText = (type: string, isNullable: boolean, initial: string | number | null): string =>
  `${type}${isNullable ? '' : ' not null'}${initial === null ? '' : ` default ${initial}`}`;

const indexText = (columns: readonly string[], isPartial: boolean): string =>
  `${columns.join(', ')}${isPartial ? ' where' : ''}`;

/** Returns what the catalog of a database must contain for a table. */
function describeTable(table: Table, dialect: Dialect): Catalog {
  const columns = columnsIn(table, dialect);
  const { primaryKey, unique = [] } = { ...table, ...table[dialect] };
  const rowId = Object.keys(columns).find((name) => columns[name]?.rowId);
  const isOwned = dialect === 'postgres' && table.isShared !== true;
  const withOwner = (names: readonly string[]): string[] =>
    isOwned && names[0] !== 'owner_id' ? ['owner_id', ...names] : [...names];
  const inKey = (names: readonly string[]): string =>
    withOwner(names)
      .map((name) => (isOwned && columns[name]?.isLong ? `${name}_digest` : name))
      .join(', ');
  const described: [string, string][] = Object.entries(columns).map(([name, column]) => {
    const { default: initial, isNullable = false, sequence, types } = column;
    const quoted = typeof initial === 'string' ? `'${initial}'` : (initial ?? null);
    if (dialect === 'sqlite') {
      return [name, columnText(types.sqlite, isNullable || name === rowId, quoted)];
    }
    const counter = sequence === undefined ? quoted : `nextval('${sequence}')`;
    const collation = column.isSorted ? ' C' : '';
    return [name, columnText(`${types.postgres}${collation}`, isNullable, counter)];
  });
  const digests = Object.keys(columns).filter((name) => isOwned && columns[name]?.isLong);
  const keys = [primaryKey, ...unique].map(inKey);
  return {
    columns: Object.fromEntries([
      ...described,
      ...digests.map((name): [string, string] => [`${name}_digest`, 'text generated']),
    ]),
    // The number of a row is no index in SQLite.
    keys: keys.filter((key) => dialect === 'postgres' || !isRowNumber(key, table)).sort(),
    indexes: Object.fromEntries(
      listIn(table.indexes ?? {}, dialect).map(([name, index]) => {
        const { on, include = [], where } = { ...index, ...index[dialect] };
        const first = index.isAcrossOwners ? on : withOwner(on);
        const more = include.filter((column) => dialect === 'postgres' || column !== rowId);
        return [name, indexText([...first, ...more], where !== undefined)];
      }),
    ),
    references: Object.entries(columns)
      .flatMap(([name, { references }]) => {
        if (!references || (references.only ?? dialect) !== dialect) return [];
        const isComposite = isOwned && references.table !== 'owners';
        return [`${isComposite ? 'owner_id, ' : ''}${name} -> ${references.table}`];
      })
      .sort(),
  };
}

/** Returns whether SQLite counts the rows of a table with a key. */
const isRowNumber = (key: string, { columns, isClustered }: Table): boolean =>
  isClustered !== true && columns[key]?.types.sqlite === 'integer';

const describeAll = (dialect: Dialect): Record<string, Catalog> =>
  Object.fromEntries(
    listIn<Table>(tables, dialect).map(([name, table]) => [name, describeTable(table, dialect)]),
  );

void t.test('SQLite has the tables that are described', async (t) => {
  const { file } = await withFileStore(t);
  const db = openDatabase(t, file);
  const read = <Row>(query: string, ...values: string[]): Row[] =>
    db.prepare<string[], Row>(query).all(...values);
  const names = read<{ name: string }>(
    "select name from sqlite_schema where type = 'table' and name not in ('sqlite_sequence', 'store_id')",
  );
  const columnsOf = (index: string): string[] =>
    read<{ name: string; desc: number }>(
      'select name, "desc" from pragma_index_xinfo(?) where key = 1',
      index,
    ).map((column) => `${column.name}${column.desc === 1 ? ' desc' : ''}`);
  const readTable = (table: string): Catalog => {
    const indexes = read<{ name: string; origin: string; partial: number }>(
      'select name, origin, partial from pragma_index_list(?)',
      table,
    );
    return {
      columns: Object.fromEntries(
        read<{ name: string; type: string; notnull: number; dflt_value: string | null }>(
          'select * from pragma_table_info(?)',
          table,
        ).map(({ name, type, notnull, dflt_value: initial }) => [
          name,
          columnText(type.toLowerCase(), notnull === 0, initial),
        ]),
      ),
      keys: indexes
        .filter(({ origin }) => origin !== 'c')
        .map(({ name }) => columnsOf(name).join(', '))
        .sort(),
      indexes: Object.fromEntries(
        indexes
          .filter(({ origin }) => origin === 'c')
          .map(({ name, partial }) => [name, indexText(columnsOf(name), partial === 1)]),
      ),
      references: read<{ table: string; from: string }>(
        'select "table", "from" from pragma_foreign_key_list(?)',
        table,
      )
        .map((reference) => `${reference.from} -> ${reference.table}`)
        .sort(),
    };
  };
  t.same(
    Object.fromEntries(names.map(({ name }) => [name, readTable(name)])),
    describeAll('sqlite'),
  );
});

/** Tables that only PostgreSQL has, and that are not described. */
const OTHER_TABLES = [
  ...['rate_limits', 'replicas', 'schema_version', 'seed_documents', 'service_values'],
  ...['shared_state', 'spans_default'],
];

void t.test('PostgreSQL has the tables that are described', async (t) => {
  const { url } = await withPostgres(t, 'migrated');
  const tableRows = await execute(
    url,
    `select relname as name from pg_class
     where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace
       and relname <> all ('{${OTHER_TABLES.join()}}')`,
  );
  const columnRows = await execute(
    url,
    `select attrelid::regclass::text as table, attname as name, attnotnull, attgenerated,
       format_type(atttypid, atttypmod) as type, collname = 'C' as is_sorted,
       pg_get_expr(adbin, adrelid) as initial
     from pg_attribute join pg_class on pg_class.oid = attrelid and relkind in ('r', 'p')
     left join pg_collation on pg_collation.oid = attcollation
     left join pg_attrdef on adrelid = attrelid and adnum = attnum
     where attnum > 0 and not attisdropped and relnamespace = 'public'::regnamespace
     order by attnum`,
  );
  const indexRows = await execute(
    url,
    `select indrelid::regclass::text as table, indexrelid::regclass::text as name, indisunique,
       indpred is not null as is_partial, (
         select array_agg(
           pg_get_indexdef(indexrelid, nth, false) || case when nth <= indnkeyatts
             and pg_index_column_has_property(indexrelid, nth, 'desc') then ' desc' else '' end
           order by nth)
         from generate_series(1, indnatts) as nth) as columns
     from pg_index join pg_class on pg_class.oid = indrelid
     where relnamespace = 'public'::regnamespace`,
  );
  const referenceRows = await execute(
    url,
    `select conrelid::regclass::text as table, confrelid::regclass::text as target, (
         select array_agg(attname::text order by nth)
         from unnest(conkey) with ordinality as keys (key, nth)
         join pg_attribute on attrelid = conrelid and attnum = key) as columns
     from pg_constraint where contype = 'f' and connamespace = 'public'::regnamespace`,
  );
  const readTable = (table: unknown): Catalog => {
    const ofTable = (rows: Record<string, unknown>[]): Record<string, unknown>[] =>
      rows.filter((row) => row['table'] === table);
    const indexes = ofTable(indexRows);
    return {
      columns: Object.fromEntries(
        ofTable(columnRows).map((row) => {
          const type = `${String(row['type'])}${row['is_sorted'] === true ? ' C' : ''}`;
          const initial = row['initial'] as string | null;
          const isGenerated = row['attgenerated'] !== '';
          return [
            String(row['name']),
            isGenerated
              ? `${type} generated`
              : columnText(
                  type,
                  row['attnotnull'] === false,
                  initial?.replace(/::(text|regclass)\b/g, '') ?? null,
                ),
          ];
        }),
      ),
      keys: indexes
        .filter((row) => row['indisunique'] === true)
        .map((row) => (row['columns'] as string[]).join(', '))
        .sort(),
      indexes: Object.fromEntries(
        indexes
          .filter((row) => row['indisunique'] !== true)
          .map((row) => [
            String(row['name']),
            indexText(row['columns'] as string[], row['is_partial'] === true),
          ]),
      ),
      references: ofTable(referenceRows)
        .map((row) => `${(row['columns'] as string[]).join(', ')} -> ${String(row['target'])}`)
        .sort(),
    };
  };
  t.same(
    Object.fromEntries(tableRows.map(({ name }) => [String(name), readTable(name)])),
    describeAll('postgres'),
  );
});
