import type { Ledger } from '../../../engine/requirement.ts';

const MIXED_TURNS =
  'Turns would be scored as part of another conversation, or the conversation could never be closed.';

/** Requirements of conversation ids and their owners (spec 2.1, 4.2, 5). */
export const idRequirements = {
  'SERVICE-065': {
    level: 'must',
    section: '2.1',
    statements: ['2.1.1', '4.2.2'],
    rule: 'Conversation ids that differ only in case identify different conversations.',
    reason: MIXED_TURNS,
    seen: 'provoked',
  },
  'SERVICE-066': {
    level: 'must',
    section: '4.2',
    statements: ['2.1.1', '4.2.2'],
    rule: '`POST /v1/sessions/{id}/end` accepts ids with encoded spaces, slashes, percent signs, and non-ASCII letters.',
    reason: MIXED_TURNS,
    seen: 'provoked',
  },
  'SERVICE-067': {
    level: 'must',
    section: '5',
    statements: ['5.a3'],
    rule: 'A key cannot close a conversation of another owner.',
    reason:
      'Later spans are not scored, so any customer could cut off the conversations of others.',
    seen: 'provoked',
  },
} as const satisfies Ledger;
