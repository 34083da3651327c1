import { columnsIn, listIn, type Table } from '../schema/table.ts';
import { tables, type Tables } from '../schema/tables.ts';

/** A table that SQLite and PostgreSQL have. */
export type MovedTable = keyof Tables;

/** Derived rows follow from those that are moved. */
export const movedTableNames = listIn<Table>(tables, 'sqlite').flatMap(([name, { isDerived }]) =>
  isDerived ? [] : [name as MovedTable],
);

/** The row that has columns which a row lacks in SQLite, such as its owner. */
export interface Parent {
  table: string;
  /** The column with the key of the parent. */
  column: string;
}

/** Returns the parent of the rows of a table; undefined if they have all columns. */
export function findParent(name: MovedTable): Parent | undefined {
  const own = columnsIn(tables[name], 'sqlite');
  const names = Object.keys(columnsIn(tables[name], 'postgres'));
  if (names.every((column) => column in own)) return undefined;
  for (const [column, { references }] of Object.entries(own)) {
    if (references && references.table !== 'owners') return { table: references.table, column };
  }
  throw new Error(`The rows of ${name} lack columns, and have no parent.`);
}

/** Thrown if data can't be moved. The message says why, and what to do. */
export class MoveError extends Error {
  override name = 'MoveError';
}
