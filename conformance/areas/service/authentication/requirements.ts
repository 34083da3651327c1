import type { Ledger } from '../../../engine/requirement.ts';

const OPEN_ACCESS = 'Anyone could write conversations into the account or read them.';

/** Requirements of the service key (spec 5). */
export const authenticationRequirements = {
  'SERVICE-029': {
    level: 'must',
    section: '5',
    statements: ['4.1.2', '4.2.3', '5.a1'],
    rule: 'The service refuses requests without the API key header.',
    reason: OPEN_ACCESS,
    seen: 'black-box',
  },
  'SERVICE-030': {
    level: 'must',
    section: '5',
    statements: ['5.a1'],
    rule: 'The service refuses requests with an unknown API key.',
    reason: OPEN_ACCESS,
    seen: 'black-box',
  },
} as const satisfies Ledger;
