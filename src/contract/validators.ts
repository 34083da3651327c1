/** Loads the generated validators when the first message is checked, because they are large. */
import { createRequire } from 'node:module';
import { SandboxKitError } from '../platform/sandbox-kit-error.ts';
import type { Messages } from './generated/types.ts';

/** An error object of ajv; only the fields that are read. */
export interface AjvError {
  instancePath: string;
  schemaPath: string;
  keyword: string;
  params: { missingProperty?: string; additionalProperty?: string };
}

/** Returns whether a value is valid, and keeps the errors of the last call. */
export interface Validator {
  (value: unknown): boolean;
  errors?: AjvError[] | null;
}

const requireFile = createRequire(import.meta.url);
const PATH = findFile();
let validators: Readonly<Record<keyof Messages, Validator>> | undefined;

/** Returns the validator of a message. */
export function validatorOf(name: keyof Messages): Validator {
  validators ??= requireFile(PATH) as Readonly<Record<keyof Messages, Validator>>;
  return validators[name];
}

/** Fails early in a clone whose file was not generated: it is not in git. */
function findFile(): string {
  try {
    return requireFile.resolve('./generated/validators.cjs');
  } catch (error) {
    const message = 'src/contract/generated/validators.cjs is missing. Run npm run generate.';
    throw new SandboxKitError('unreadable_file', message, { cause: error });
  }
}
