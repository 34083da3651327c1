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
  readText(key: string): string;
  /** Undefined if absent. */
  readOptionalText(key: string): string | undefined;
  readTexts(key: string): string[];
  readNumber(key: string): number;
  /** Undefined if absent. */
  readOptionalNumber(key: string): number | undefined;
  /** False if absent. */
  readFlag(key: string): boolean;
  /** Any JSON value. */
  readValue(key: string): unknown;
  /** One of the words; the first if absent. */
  readWord<Word extends string>(key: string, words: readonly [Word, ...Word[]]): Word;
}

/** Returns typed access to the parameters of an eval. */
export function readParams(definition: EvalDefinition): Params {
  const params = definition.params ?? {};
  const getValue = (key: string): unknown => (Object.hasOwn(params, key) ? params[key] : undefined);
  const refuse = (key: string, expected: string): never => {
    throw new UnreadableParams(
      `The eval can't be scored: its parameter ${key} is not ${expected}.`,
    );
  };
  const readOptionalText = (key: string): string | undefined => {
    const text = getValue(key);
    return text === undefined || typeof text === 'string' ? text : refuse(key, 'a string');
  };
  const readOptionalNumber = (key: string): number | undefined => {
    const number = getValue(key);
    return number === undefined || typeof number === 'number' ? number : refuse(key, 'a number');
  };
  return {
    readOptionalText,
    readText: (key) => readOptionalText(key) ?? refuse(key, 'a string'),
    readTexts(key) {
      const texts = getValue(key);
      return Array.isArray(texts) && texts.every((text) => typeof text === 'string')
        ? texts
        : refuse(key, 'a list of strings');
    },
    readOptionalNumber,
    readNumber: (key) => readOptionalNumber(key) ?? refuse(key, 'a number'),
    readFlag(key) {
      const flag = getValue(key) ?? false;
      return typeof flag === 'boolean' ? flag : refuse(key, 'true or false');
    },
    readValue: (key) =>
      getValue(key) ?? (Object.hasOwn(params, key) ? null : refuse(key, 'present')),
    readWord(key, words) {
      const word = getValue(key) ?? words[0];
      return words.find((known) => known === word) ?? refuse(key, `one of ${words.join(', ')}`);
    },
  };
}
