/**
 * Adds the inputs of evals besides the turns (metadata, hints) and whether an outcome is required.
 * Older sessions have no metadata, and all their evals were required.
 */
export const ADD_EVAL_INPUTS = `
-- 0: the outcome never makes the session fail
alter table outcomes add column required integer not null default 1;

-- JSON object or null: metadata that was uploaded with the session
alter table sessions add column metadata text;

-- JSON object or null: hints from the sandbox (spec 2.8)
alter table turns add column evaluation_metadata text;
`;
