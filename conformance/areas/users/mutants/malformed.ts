import {
  is,
  isEmptyBody,
  isJsonArray,
  isNotJson,
  isNull,
  isNumber,
  lacks,
  where,
  type MalformedRequest,
} from '../../../engine/mutants/requests.ts';
import type { When } from '../../../engine/mutants/combinators.ts';
import type { MalformedCreateStep } from '../steps.ts';

const idWith = (character: string): When =>
  where('user_id', (id) => typeof id === 'string' && id.includes(character));

/** How to recognize the malformed create requests of the probes, by step. */
export const malformedCreates: Readonly<Record<MalformedCreateStep, MalformedRequest>> = {
  'user_id missing': { name: 'user-id-missing', when: lacks('user_id') },
  'user_id a number': { name: 'user-id-a-number', when: where('user_id', isNumber) },
  'user_id null': { name: 'user-id-null', when: where('user_id', isNull) },
  'user_id with a hyphen': { name: 'hyphen', when: idWith('-') },
  'user_id with a space': { name: 'space', when: idWith(' ') },
  'user_id with a dot': { name: 'dot', when: idWith('.') },
  'user_id with a slash': { name: 'slash', when: idWith('/') },
  'user_id with a line break': { name: 'line-break', when: idWith('\n') },
  'user_id of 65 characters': {
    name: '65-characters',
    when: where('user_id', (id) => typeof id === 'string' && id.length === 65),
  },
  'user_id empty': { name: 'empty-id', when: where('user_id', is('')) },
  'body not JSON': { name: 'body-not-json', when: isNotJson },
  'body empty': { name: 'body-empty', when: isEmptyBody },
  'body an array': { name: 'body-an-array', when: isJsonArray },
};
