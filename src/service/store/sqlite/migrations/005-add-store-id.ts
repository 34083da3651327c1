/** Adds an id to the file, so that a start notices if another file took its place. */
export const ADD_STORE_ID = `
create table store_id (id text primary key) strict, without rowid;
insert into store_id values (lower(hex(randomblob(16))));
`;
