/** Adds the ids of ignored spans, so that the ancestors of stored spans are known. */
export const ADD_SPAN_LINKS = `
create table span_links (
  -- an ignored span with a parent; the oldest are deleted beyond a limit
  key integer primary key,
  owner_id text not null,
  trace_id text not null,
  span_id text not null,
  parent_span_id text not null,
  unique (owner_id, trace_id, span_id)
) strict;
`;
