/** Adds the recordings of simulated calls. */
export const ADD_RECORDINGS = `
create table recordings (
  session_key integer primary key references sessions (key) on delete cascade,
  owner_id text not null,
  audio_bytes integer not null,
  -- JSON object: levels of both sides, and when the user spoke
  summary text not null,
  -- Ogg with Opus: the user on the left, the agent on the right; null if it can't be played
  audio blob
) strict;
create index recordings_of_owner on recordings (owner_id, session_key, audio_bytes);
`;
