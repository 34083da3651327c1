import { groupColumns, selectCounts, sumColumns } from '../schema/session-counts.ts';

/** Selects what a statement changes in each row of `session_counts`. */
const selectChanges = (...changes: readonly ['added' | 'removed', 1 | -1][]): string => `
      select ${[...groupColumns, ...sumColumns.map((sum) => `sum(${sum}) as ${sum}`)].join(', ')}
      from (${changes
        .map(
          ([rows, sign]) =>
            `select ${selectCounts(sign)} from ${rows} where eval_set_key is not null`,
        )
        .join(' union all ')}) as changed
      group by ${groupColumns.join(', ')}
      having ${sumColumns.map((sum) => `sum(${sum}) <> 0`).join(' or ')}`;

const columns = [...groupColumns, ...sumColumns];

/**
 * Creates or replaces the triggers that keep `session_counts`.
 *
 * They add to a row that no other transaction is changing, or insert one. So transactions never wait for
 * each other, and there are at most as many rows of the same sessions as there were transactions at the
 * same time.
 */
export const CREATE_COUNTERS = `
create or replace function count_sessions() returns trigger language plpgsql as $count$
declare
  changes refcursor;
  change record;
begin
  if tg_op = 'INSERT' then
    open changes for ${selectChanges(['added', 1])};
  elsif tg_op = 'DELETE' then
    open changes for ${selectChanges(['removed', -1])};
  else
    open changes for ${selectChanges(['added', 1], ['removed', -1])};
  end if;
  loop
    fetch changes into change;
    exit when not found;
    update session_counts
    set ${sumColumns.map((sum) => `${sum} = session_counts.${sum} + change.${sum}`).join(', ')}
    where owner_id = change.owner_id and key = (
      select key from session_counts
      where ${groupColumns.map((column) => `${column} = change.${column}`).join(' and ')}
      limit 1 for update skip locked
    );
    if not found then
      insert into session_counts (${columns.join(', ')})
      values (${columns.map((column) => `change.${column}`).join(', ')});
    end if;
  end loop;
  close changes;
  return null;
end
$count$;

create or replace trigger sessions_added after insert on sessions
  referencing new table as added
  for each statement execute function count_sessions();
create or replace trigger sessions_removed after delete on sessions
  referencing old table as removed
  for each statement execute function count_sessions();
create or replace trigger sessions_changed after update on sessions
  referencing new table as added old table as removed
  for each statement execute function count_sessions();
`;
