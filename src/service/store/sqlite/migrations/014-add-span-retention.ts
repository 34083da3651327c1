/**
 * Adds the age of conversations, so that old spans can be removed. A conversation that exists already
 * counts from the day of its last span.
 */
export const ADD_SPAN_RETENTION = `
-- days since the Unix epoch until its first span was received
alter table conversations add column received_day integer not null default 0;
update conversations set received_day = last_received_at_ms / 86400000;
-- when its spans were removed because of their age; later spans are dropped
alter table conversations add column spans_removed_at_ms integer;
create index conversations_with_spans on conversations (owner_id, received_day)
  where spans_removed_at_ms is null;
`;
