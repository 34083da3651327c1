import { resolvePointer } from '../../src/contract/index.ts';
import { isObject } from '../../src/platform/json.ts';
import { malformedBodyHint, type RefusalHint } from './checks/refusal-hints.ts';
import type { When } from './mutants/combinators.ts';
import {
  hasSingleQuotes,
  hasTextAfterJson,
  isEmptyBody,
  isJsonArray,
  isNotJson,
  TEXT_AFTER_JSON,
} from './mutants/requests.ts';
import type { Step } from './probe.ts';

/** One edit that makes a valid request malformed, in both directions: to make it and to recognize it. */
export interface RequestEdit {
  /** Returns the body to send, one edit away from the body of a request that is accepted. */
  edit: (accepted: object) => NonNullable<Step['body']>;
  /** Recognizes the edited request. */
  isIn: When;
  /** The mutant that accepts the request is called `accepts-` and this (default: from the step). */
  name?: string;
  /** Advice if the request is not refused (default: the hint of the requirement). */
  hint?: RefusalHint;
}

/** Omits the value at a JSON pointer. */
export function remove(pointer: string): RequestEdit {
  const parent = pointer.slice(0, pointer.lastIndexOf('/'));
  const key = pointer.slice(pointer.lastIndexOf('/') + 1);
  return {
    edit(accepted) {
      const json = structuredClone(accepted);
      Reflect.deleteProperty(resolvePointer(json, parent) as object, key);
      return { json };
    },
    isIn({ json }) {
      const object = resolvePointer(json, parent);
      return isObject(object) && !Object.hasOwn(object, key);
    },
  };
}

/** Replaces the value at a JSON pointer. Recognizes the same value. */
export const replace = (pointer: string, value: unknown): RequestEdit =>
  change(
    pointer,
    () => value,
    (found) => found === value,
  );

/** Replaces the value at a JSON pointer by one of a wrong type. Recognizes every value of that type. */
export const replaceType = (pointer: string, value: unknown): RequestEdit =>
  change(
    pointer,
    () => value,
    (found) => typeOf(found) === typeOf(value),
  );

const typeOf = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;

/** Changes the value at a JSON pointer. Recognizes the values for which `matches` returns true. */
export function change(
  pointer: string,
  edit: (valid: unknown) => unknown,
  matches: (found: unknown) => boolean,
): RequestEdit {
  const parent = pointer.slice(0, pointer.lastIndexOf('/'));
  const key = pointer.slice(pointer.lastIndexOf('/') + 1);
  return {
    edit(accepted) {
      const json = structuredClone(accepted);
      const value = edit(resolvePointer(json, pointer));
      Reflect.set(resolvePointer(json, parent) as object, key, value);
      return { json };
    },
    isIn: ({ json }) => matches(resolvePointer(json, pointer)),
  };
}

/** Makes the body something other than a JSON object. */
export const bodyEdits = {
  'body not JSON': {
    edit: (accepted) => ({ text: JSON.stringify(accepted).slice(0, -1) }),
    isIn: isNotJson,
  },
  'body with text after the JSON': {
    edit: (accepted) => ({ text: `${JSON.stringify(accepted)}${TEXT_AFTER_JSON}` }),
    isIn: hasTextAfterJson,
    hint: {
      ...malformedBodyHint,
      accepted:
        'Refuse a body with anything after its JSON object. Decoders that read a stream, such as json.NewDecoder in Go, stop after the first value.',
    },
  },
  'body with single quotes': {
    edit: (accepted) => ({ text: JSON.stringify(accepted).replaceAll('"', "'") }),
    isIn: hasSingleQuotes,
    hint: {
      ...malformedBodyHint,
      accepted: 'Use a strict JSON parser: JSON has only double quotes.',
    },
  },
  'body empty': { edit: () => ({ text: '' }), isIn: isEmptyBody },
  'body an array': { edit: (accepted) => ({ json: [accepted] }), isIn: isJsonArray },
} as const satisfies Readonly<Record<string, RequestEdit>>;
