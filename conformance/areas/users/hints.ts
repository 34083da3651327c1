import { malformedBodyHint, type RefusalHint } from '../../engine/checks/refusal-hints.ts';
import type { RefusedCreateStep } from './steps.ts';

const typeHint = { accepted: "Check that `user_id` is a string, and don't convert other types." };
const charactersHint = {
  accepted: 'Match the whole id, not a part of it, against letters, digits, and underscores.',
};

/** Hints for create requests that the sandbox doesn't refuse as required, by step. */
export const createRefusalHints: Readonly<Record<RefusedCreateStep, RefusalHint>> = {
  'user_id missing': typeHint,
  'user_id a number': typeHint,
  'user_id null': typeHint,
  'user_id with a hyphen': charactersHint,
  'user_id with a space': charactersHint,
  'user_id with a dot': charactersHint,
  'user_id with a slash': charactersHint,
  'user_id with a line break': {
    accepted: 'Match the whole id: in many languages, $ also matches before a final line break.',
  },
  'user_id of 65 characters': { accepted: 'Check that the id has at most 64 characters.' },
  'user_id empty': { accepted: 'Check that the id has at least one character.' },
  'body not JSON': malformedBodyHint,
  'body empty': malformedBodyHint,
  'body an array': malformedBodyHint,
  duplicate: {
    accepted:
      'Look up the id before you create the user; if it exists, respond with 409 and the code user_exists.',
    crashed: 'Catch the conflict of ids and respond with 409 and the code user_exists.',
  },
};
