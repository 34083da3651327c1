/** What a seed has planted is told apart from what it would plant, so that it is planted once. */
export const seededOnce = `
-- SHA-256 of what the seed said of it, lower-case hexadecimal; null when it is of no seed
alter table sessions add column seed_digest text;
`;
