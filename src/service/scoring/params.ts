import type { EvalDefinition } from '../../contract/index.ts';

/** The parameters of an eval are not what its kind needs; the message is fit for a reasoning. */
export class UnreadableParams extends Error {
  override name = 'UnreadableParams';
}

/**
 * The parameters of an eval, each read as what it must be. The schema has checked them when the eval
 * came in; a snapshot of an older release may still differ. Each reader throws `UnreadableParams`.
 */
export interface Params {
  text(key: string): string;
  /** Undefined when it is left out. */
  optionalText(key: string): string | undefined;
  texts(key: string): string[];
  number(key: string): number;
  /** False when it is left out. */
  flag(key: string): boolean;
  /** Any JSON value. */
  value(key: string): unknown;
  /** One of the words, the first when it is left out. */
  word<Word extends string>(key: string, words: readonly [Word, ...Word[]]): Word;
}

/** Reads the parameters of an eval. */
export function paramsOf(definition: EvalDefinition): Params {
  const given = definition.params ?? {};
  const value = (key: string): unknown => (Object.hasOwn(given, key) ? given[key] : undefined);
  const refuse = (key: string, wanted: string): never => {
    throw new UnreadableParams(`The eval cannot be scored: its parameter ${key} is not ${wanted}.`);
  };
  const optionalText = (key: string): string | undefined => {
    const text = value(key);
    return text === undefined || typeof text === 'string' ? text : refuse(key, 'a text');
  };
  return {
    optionalText,
    text: (key) => optionalText(key) ?? refuse(key, 'a text'),
    texts(key) {
      const texts = value(key);
      return Array.isArray(texts) && texts.every((text) => typeof text === 'string')
        ? texts
        : refuse(key, 'a list of texts');
    },
    number(key) {
      const number = value(key);
      return typeof number === 'number' ? number : refuse(key, 'a number');
    },
    flag(key) {
      const flag = value(key) ?? false;
      return typeof flag === 'boolean' ? flag : refuse(key, 'true or false');
    },
    value: (key) => value(key) ?? (Object.hasOwn(given, key) ? null : refuse(key, 'there')),
    word(key, words) {
      const word = value(key) ?? words[0];
      return words.find((known) => known === word) ?? refuse(key, `one of ${words.join(', ')}`);
    },
  };
}
