/** The caller's mistake: said in one sentence, exit code 2. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** The exit codes of every verb. */
export const exitCodes = {
  fine: 0,
  findings: 1,
  usage: 2,
  notJudged: 3,
  ourFault: 70,
} as const;
