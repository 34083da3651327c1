/**
 * What evals read of a session besides its words, and which of their outcomes may fail it. Sessions
 * from before have no metadata, and required all of their evals.
 */
export const whatEvalsRead = `
-- 0: its outcome never makes the session fail
alter table outcomes add column required integer not null default 1;

-- JSON object, or null: what the session was handed in with
alter table sessions add column metadata text;

-- JSON object, or null: what the sandbox hinted at (spec 2.8)
alter table turns add column evaluation_metadata text;
`;
