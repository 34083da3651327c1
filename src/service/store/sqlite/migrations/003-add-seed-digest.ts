/** Adds a digest of the seed data, so that seeding again leaves unchanged sessions alone. */
export const ADD_SEED_DIGEST = `
-- SHA-256 of the seed data of the session, lower-case hexadecimal; null if it was not seeded
alter table sessions add column seed_digest text;
`;
