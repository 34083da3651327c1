import { resolvePointer } from '../../src/contract/index.ts';
import { isObject } from '../../src/platform/json.ts';
import type { RefusalHint } from './checks/refusal-hints.ts';
import { drop, set, type Edit, type When } from './mutants/combinators.ts';
import { isEmptyBody, isJsonArray, isNotJson } from './mutants/requests.ts';
import type { Step } from './probe.ts';

/** One edit that makes a valid request malformed, in both directions: to make it and to recognize it. */
export interface RequestEdit {
  /** Returns the body to send, one edit away from the body of a request that is accepted. */
  edit(accepted: object): NonNullable<Step['body']>;
  /** Recognizes the edited request. */
  isIn: When;
  /** The mutant that accepts the request is called `accepts-` and this (default: from the step). */
  name?: string;
  /** What to do if the request is not refused (default: the hint of the requirement). */
  hint?: RefusalHint;
}

/** Applies an edit of a JSON body to a copy. */
const changed = (accepted: object, edit: Edit): { json: unknown } => {
  const json = structuredClone(accepted) as Record<string, unknown>;
  edit(json, undefined as never);
  return { json };
};

/** Omits the value at a JSON pointer. */
export function remove(pointer: string): RequestEdit {
  const parent = pointer.slice(0, pointer.lastIndexOf('/'));
  const key = pointer.slice(pointer.lastIndexOf('/') + 1);
  return {
    edit: (accepted) => changed(accepted, drop(pointer)),
    isIn({ json }) {
      const object = resolvePointer(json, parent);
      return isObject(object) && !Object.hasOwn(object, key);
    },
  };
}

/** Replaces the value at a JSON pointer by one of a wrong type. Recognizes every value of that type. */
export function replaceType(pointer: string, value: unknown): RequestEdit {
  const typeOf = (any: unknown): string =>
    any === null ? 'null' : Array.isArray(any) ? 'array' : typeof any;
  return replaceValue(pointer, value, (found) => typeOf(found) === typeOf(value));
}

/**
 * Replaces the value at a JSON pointer, or changes it with a function. Recognizes values for which
 * `matches` returns true (default: the same value).
 */
export function replaceValue(
  pointer: string,
  value: unknown,
  matches: (found: unknown) => boolean = (found) => found === value,
): RequestEdit {
  return {
    edit: (accepted) =>
      changed(
        accepted,
        set(
          pointer,
          typeof value === 'function'
            ? (value as (valid: unknown) => unknown)(resolvePointer(accepted, pointer))
            : value,
        ),
      ),
    isIn: ({ json }) => matches(resolvePointer(json, pointer)),
  };
}

/** Makes the body something other than a JSON object. */
export const bodyEdits = {
  'body not JSON': {
    edit: (accepted) => ({ text: JSON.stringify(accepted).slice(0, -1) }),
    isIn: isNotJson,
  },
  'body empty': { edit: () => ({ text: '' }), isIn: isEmptyBody },
  'body an array': { edit: (accepted) => ({ json: [accepted] }), isIn: isJsonArray },
} as const satisfies Readonly<Record<string, RequestEdit>>;
