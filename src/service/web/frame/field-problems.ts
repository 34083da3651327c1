import { findViolations, type MessageName } from '../../../contract/index.ts';

/** The problems of the fields of a form, by their names. */
export type FieldProblems<Name extends string> = Partial<Record<Name, string>>;

/**
 * Checks what a form defines as a whole, and returns the text about each field whose value violates the
 * schema. A field is named like the property that it sets.
 */
export function findFieldProblems<Name extends string>(
  message: MessageName,
  defined: object,
  texts: Readonly<Record<Name, string>>,
): FieldProblems<Name> {
  const wrong = new Set(
    findViolations(message, defined).map(({ pointer }) => pointer.split('/')[1]),
  );
  const names = Object.keys(texts) as Name[];
  return Object.fromEntries(
    names.filter((name) => wrong.has(name)).map((name) => [name, texts[name]]),
  ) as FieldProblems<Name>;
}

/** Returns whether a form has no problems. */
export const isFlawless = (problems: FieldProblems<string>): boolean =>
  Object.keys(problems).length === 0;
