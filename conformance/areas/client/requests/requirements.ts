import type { Ledger } from '../../../engine/requirement.ts';

/** Requirements of every request to the service (spec 4, 5, 9). */
export const requestRequirements = {
  'CLIENT-001': {
    level: 'must',
    section: '5',
    statements: ['4.1.2', '4.2.3', '5.a1'],
    rule: 'Every request carries the API key header.',
    reason: 'The service refuses the request, and its spans or results are lost.',
    observability: 'black-box',
  },
  'CLIENT-002': {
    level: 'must',
    section: '5',
    statements: ['5.a1'],
    rule: 'The API key header contains a key that the service accepts.',
    reason: 'The service refuses the request, and its spans or results are lost.',
    observability: 'black-box',
  },
  'CLIENT-003': {
    level: 'must',
    section: '9',
    statements: ['4.1.1', '4.2.1', '4.3.1', '4.4.1', '9.1', '9.2'],
    rule: 'Every request uses a path and a method of the interface.',
    reason: 'The service responds with 404 or 405, and the request has no effect.',
    observability: 'black-box',
  },
  'CLIENT-004': {
    level: 'should',
    section: '4.3',
    statements: ['4.3.1', '4.4.1'],
    rule: 'The path of a results request ends with a slash.',
    reason:
      'Other implementations of the service may redirect or refuse the path without the slash.',
    observability: 'black-box',
  },
} as const satisfies Ledger;
