/** Adds an id, a label, and the time of creation to keys, so that they can be listed. */
export const ADD_KEY_LABELS = `
-- random; names a key to callers, who see neither the key nor its digest
alter table keys add column id text;
-- null if the caller gave none
alter table keys add column label text;
-- null if it is from the configuration or from an older release
alter table keys add column created_at_ms integer;

update keys set id = lower(hex(randomblob(8)));
create unique index keys_by_id on keys (id);
`;
