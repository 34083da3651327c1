/** References to environment variables in a configuration file: `${NAME}` and `${NAME:-default}`. */

/** A reference is malformed, or its variable is unset. The message has no full stop. */
export class InvalidReferenceError extends Error {
  override name = 'InvalidReferenceError';
}

const ANY = /\$\$\{|\$\{([^}]*)(\}?)/g;
const NAME = '[A-Za-z_][A-Za-z0-9_]*';
const NAME_AND_DEFAULT = new RegExp(`^(${NAME})(?::-(.*))?$`, 's');

/** The form of a text that consists of one reference without a default. */
export const REFERENCE_ONLY = `^\\$\\{${NAME}\\}$`;

/** Returns whether a text contains a reference or the escaped form `$${`. */
export function hasReference(text: string): boolean {
  return text.includes('${');
}

/** Returns whether a text consists of one reference without a default. */
export function isReferenceOnly(text: string): boolean {
  return new RegExp(REFERENCE_ONLY).test(text.trim());
}

/**
 * Replaces the references in a text. `$${` becomes `${`. An empty variable counts as unset.
 *
 * @throws {InvalidReferenceError} if a variable without a default is unset, or a reference is malformed.
 */
export function replaceReferences(
  text: string,
  readVariable: (name: string) => string | undefined,
): string {
  return text.replaceAll(ANY, (_match, content: string | undefined, end: string | undefined) => {
    if (content === undefined) return '${';
    const [, name, fallback] = (end === '}' && NAME_AND_DEFAULT.exec(content)) || [];
    if (name === undefined) {
      throw new InvalidReferenceError(
        'Invalid reference to an environment variable. Write ${NAME} or ${NAME:-default}. Write $${ if you mean the text ${ itself',
      );
    }
    const value = readVariable(name) ?? fallback;
    if (value !== undefined) return value;
    throw new InvalidReferenceError(
      `The environment variable ${name} is not set. Set it, or add a default: \${${name}:-default}`,
    );
  });
}
