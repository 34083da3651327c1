import { isPromise } from '../../src/platform/options.ts';

/** The result of an assertion, in the form that the matchers of Vitest and Jest return. */
export interface Judgment {
  pass: boolean;
  /** Explains the failure: of the assertion, or of its negation if it passed. */
  message: () => string;
}

/** @throws {TypeError} if a value is a promise, because its result was expected. */
export function rejectPromise(caller: string, value: unknown): void {
  if (isPromise(value)) throw new TypeError(`${caller}: Got a promise. Did you forget await?`);
}

/** The maximum number of problems in a message. */
const SHOWN_MAX = 5;

/** Joins a sentence and the first problems, each on its own lines. */
export function describeProblems(sentence: string, problems: readonly string[]): string {
  const more = problems.length - SHOWN_MAX;
  return [
    sentence,
    ...problems.slice(0, SHOWN_MAX).map((problem) => `\n${problem}`),
    ...(more > 0 ? [`\nAnd ${more} more.`] : []),
  ].join('\n');
}

/** Returns lines such as `  expected  a string`; omits lines without text. */
export function labelLines(rows: readonly (readonly [string, string | undefined])[]): string[] {
  return rows.flatMap(([label, text]) =>
    text === undefined || text === '' ? [] : [`  ${label.padEnd(8)}  ${text}`],
  );
}
