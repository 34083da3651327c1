import type {
  DeleteQueryNode,
  InsertQueryNode,
  JoinNode,
  SelectQueryNode,
  UpdateQueryNode,
} from 'kysely';
import {
  AliasNode,
  AndNode,
  BinaryOperationNode,
  ColumnNode,
  OnNode,
  OperationNodeTransformer,
  OperatorNode,
  PrimitiveValueListNode,
  ReferenceNode,
  TableNode,
  ValueListNode,
  ValueNode,
  ValuesNode,
  WhereNode,
  type KyselyPlugin,
  type OperationNode,
  type QueryId,
} from 'kysely';
import { listIn, type Table } from '../schema/table.ts';
import { tables } from '../schema/tables.ts';

const OWNER_COLUMN = 'owner_id';

/** Tables that all owners share. Every other table has `owner_id` first in its keys. */
const sharedTables: ReadonlySet<string> = new Set(
  listIn<Table>(tables, 'postgres').flatMap(([name, { isShared }]) => (isShared ? name : [])),
);

/**
 * Creates a plugin that restricts every statement to the rows of one owner: each table in it gets the
 * condition `owner_id = …`, and inserted rows and conflict targets get the column. So no query can read
 * rows of another owner, and a database that is distributed by owner runs it in one place. Raw SQL that
 * names a table is not restricted.
 */
export function ownerScope(ownerId: string): KyselyPlugin {
  const transformer = new OwnerTransformer(ownerId);
  return {
    transformQuery: ({ node, queryId }) => transformer.transformNode(node, queryId),
    transformResult: ({ result }) => Promise.resolve(result),
  };
}

class OwnerTransformer extends OperationNodeTransformer {
  readonly #ownerId: string;

  constructor(ownerId: string) {
    super();
    this.#ownerId = ownerId;
  }

  protected override transformSelectQuery(node: SelectQueryNode, id?: QueryId): SelectQueryNode {
    const query = super.transformSelectQuery(node, id);
    return this.#restrict(query, query.from?.froms ?? []);
  }

  protected override transformUpdateQuery(node: UpdateQueryNode, id?: QueryId): UpdateQueryNode {
    const query = super.transformUpdateQuery(node, id);
    return this.#restrict(query, query.table ? [query.table] : []);
  }

  protected override transformDeleteQuery(node: DeleteQueryNode, id?: QueryId): DeleteQueryNode {
    const query = super.transformDeleteQuery(node, id);
    return this.#restrict(query, query.from.froms);
  }

  protected override transformJoin(node: JoinNode, id?: QueryId): JoinNode {
    const join = super.transformJoin(node, id);
    const condition = this.#conditionOf(join.table);
    if (!condition) return join;
    const on = join.on ? AndNode.create(join.on.on, condition) : condition;
    return { ...join, on: OnNode.create(on) };
  }

  protected override transformInsertQuery(node: InsertQueryNode, id?: QueryId): InsertQueryNode {
    const query = super.transformInsertQuery(node, id);
    if (!query.into || !isOwned(query.into) || !query.columns || !query.values) return query;
    const { columns } = query;
    const conflict = query.onConflict;
    const target = conflict?.columns;
    return {
      ...query,
      ...(conflict &&
        target &&
        !hasOwner(target) && {
          onConflict: { ...conflict, columns: [ColumnNode.create(OWNER_COLUMN), ...target] },
        }),
      ...(!hasOwner(columns) && {
        columns: [ColumnNode.create(OWNER_COLUMN), ...columns],
        values: this.#addOwner(query.values),
      }),
    };
  }

  #addOwner(values: OperationNode): OperationNode {
    if (!ValuesNode.is(values)) throw new Error('Only rows can be inserted, not a selection.');
    return ValuesNode.create(
      values.values.map((item) =>
        PrimitiveValueListNode.is(item)
          ? PrimitiveValueListNode.create([this.#ownerId, ...item.values])
          : ValueListNode.create([ValueNode.create(this.#ownerId), ...item.values]),
      ),
    );
  }

  #restrict<Query extends { where?: WhereNode }>(
    query: Query,
    tables: readonly OperationNode[],
  ): Query {
    let { where } = query;
    for (const table of tables) {
      const condition = this.#conditionOf(table);
      if (!condition) continue;
      where = where
        ? WhereNode.cloneWithOperation(where, 'And', condition)
        : WhereNode.create(condition);
    }
    return { ...query, ...(where && { where }) };
  }

  /** Returns the condition on the owner of a table; undefined for subqueries and shared tables. */
  #conditionOf(table: OperationNode): OperationNode | undefined {
    const target = AliasNode.is(table) ? table.node : table;
    if (!TableNode.is(target) || !isOwned(target)) return undefined;
    const name =
      AliasNode.is(table) && 'name' in table.alias
        ? TableNode.create(String(table.alias.name))
        : target;
    return BinaryOperationNode.create(
      ReferenceNode.create(ColumnNode.create(OWNER_COLUMN), name),
      OperatorNode.create('='),
      ValueNode.create(this.#ownerId),
    );
  }
}

const isOwned = ({ table }: TableNode): boolean => !sharedTables.has(table.identifier.name);

const hasOwner = (columns: readonly ColumnNode[]): boolean =>
  columns.some(({ column }) => column.name === OWNER_COLUMN);
