import type { Ledger } from '../../../engine/requirement.ts';

const TAKEN_WHY = 'Turns of one conversation would be scored with those of another, or never.';

/** What the interface asks of the ids of conversations, and of whose they are (spec 2.1, 4.2, 5). */
export const serviceIdRequirements = {
  'SERVICE-065': {
    level: 'must',
    section: '2.1',
    statements: ['2.1.1', '4.2.2'],
    rule: 'Ids that differ in case alone are those of two conversations.',
    reason: TAKEN_WHY,
    seen: 'provoked',
  },
  'SERVICE-066': {
    level: 'must',
    section: '4.2',
    statements: ['2.1.1', '4.2.2'],
    rule: 'A conversation can be closed whatever its id: with a space, a slash, % or letters beyond ASCII, encoded in the path.',
    reason: TAKEN_WHY,
    seen: 'provoked',
  },
  'SERVICE-067': {
    level: 'must',
    section: '5',
    statements: ['5.a3'],
    rule: 'A key closes no conversation of another owner.',
    reason: 'What comes after the close is not scored: anybody could cut it short.',
    seen: 'provoked',
  },
} as const satisfies Ledger;
