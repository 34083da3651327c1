import type { EvalDefinition } from '../../contract/index.ts';

/** A parameter of an eval does not have the type that its kind needs. */
export class UnreadableParams extends Error {
  override name = 'UnreadableParams';
}

/**
 * Typed access to the parameters of an eval. The schema validated them when the eval was created, but an
 * eval stored by an older release may differ. Every reader throws `UnreadableParams` for a wrong type.
 */
export interface Params {
  text(key: string): string;
  /** Undefined if absent. */
  optionalText(key: string): string | undefined;
  texts(key: string): string[];
  number(key: string): number;
  /** False if absent. */
  flag(key: string): boolean;
  /** Any JSON value. */
  value(key: string): unknown;
  /** One of the words; the first if absent. */
  word<Word extends string>(key: string, words: readonly [Word, ...Word[]]): Word;
}

/** Returns typed access to the parameters of an eval. */
export function readParams(definition: EvalDefinition): Params {
  const params = definition.params ?? {};
  const value = (key: string): unknown => (Object.hasOwn(params, key) ? params[key] : undefined);
  const refuse = (key: string, expected: string): never => {
    throw new UnreadableParams(
      `The eval can't be scored: its parameter ${key} is not ${expected}.`,
    );
  };
  const optionalText = (key: string): string | undefined => {
    const text = value(key);
    return text === undefined || typeof text === 'string' ? text : refuse(key, 'a string');
  };
  return {
    optionalText,
    text: (key) => optionalText(key) ?? refuse(key, 'a string'),
    texts(key) {
      const texts = value(key);
      return Array.isArray(texts) && texts.every((text) => typeof text === 'string')
        ? texts
        : refuse(key, 'a list of strings');
    },
    number(key) {
      const number = value(key);
      return typeof number === 'number' ? number : refuse(key, 'a number');
    },
    flag(key) {
      const flag = value(key) ?? false;
      return typeof flag === 'boolean' ? flag : refuse(key, 'true or false');
    },
    value: (key) => value(key) ?? (Object.hasOwn(params, key) ? null : refuse(key, 'present')),
    word(key, words) {
      const word = value(key) ?? words[0];
      return words.find((known) => known === word) ?? refuse(key, `one of ${words.join(', ')}`);
    },
  };
}
