import {
  countedColumns,
  groupColumns,
  selectCounts,
  sumColumns,
} from '../schema/session-counts.ts';

const columns = ['owner_id', ...countedColumns];

/** Adds a row of sessions to its counts, or with -1 removes it. */
const count = (row: 'new' | 'old', sign: 1 | -1): string => `
  insert into session_counts (${[...groupColumns, ...sumColumns].join(', ')})
    select ${selectCounts(sign)}
    from (select ${columns.map((column) => `${row}.${column} as ${column}`).join(', ')})
    where eval_set_key is not null
    on conflict do update set
      ${sumColumns.map((sum) => `${sum} = ${sum} + excluded.${sum}`).join(', ')};`;

const listOf = (row: 'new' | 'old'): string =>
  columns.map((column) => `${row}.${column}`).join(', ');

/** Creates or replaces the triggers that keep `session_counts`. */
export const CREATE_COUNTERS = `
drop trigger if exists sessions_added;
create trigger sessions_added after insert on sessions begin${count('new', 1)}
end;
drop trigger if exists sessions_removed;
create trigger sessions_removed after delete on sessions begin${count('old', -1)}
end;
drop trigger if exists sessions_changed;
create trigger sessions_changed after update of ${columns.join(', ')} on sessions
when (${listOf('old')}) is not (${listOf('new')}) begin${count('old', -1)}${count('new', 1)}
end;
`;
