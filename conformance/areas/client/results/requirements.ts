import type { Ledger } from '../../../engine/requirement.ts';

/** Requirements of reading results (spec 4.3, 4.4, 8). */
export const resultsRequirements = {
  'CLIENT-050': {
    level: 'must',
    section: '4.3',
    statements: ['4.3.2', '4.3.5', '4.3.9', '4.3.11', '4.3.13', '4.4.2', '4.4.3', '4.4.4', '4.4.5'],
    rule: 'The names of query parameters are spelled as in the specification.',
    reason: 'The service ignores a misspelled filter and returns all sessions.',
    observability: 'black-box',
  },
  'CLIENT-051': {
    level: 'may',
    section: '4.3',
    statements: ['4.3.2', '4.4.2'],
    rule: 'A results request has only query parameters that the endpoint defines.',
    reason: 'The specification does not say how a service handles other parameters.',
    observability: 'black-box',
  },
  'CLIENT-052': {
    level: 'must',
    section: '4.3',
    statements: ['4.3.7', '4.3.8', '4.3.11', '4.3.13', '4.3.14', '4.3.15', '4.4.5', '4.4.6'],
    rule: 'A query parameter occurs once, with a value of its type: ISO 8601 time, boolean, or integer of 0 or more.',
    reason: 'The service refuses the request, or applies another filter.',
    observability: 'black-box',
  },
  'CLIENT-053': {
    level: 'should',
    section: '8',
    statements: ['4.3.16', '4.4.11', '8.a7'],
    rule: '`limit` is at most 500.',
    reason: 'The service returns at most 500 sessions. A client that expects more misses sessions.',
    observability: 'black-box',
  },
  'CLIENT-054': {
    level: 'must',
    section: '4.3',
    statements: ['4.3.r3', '8.a6'],
    rule: 'A client that reads pages, or reads without `limit`, continues until `skip + len(items) >= total`.',
    reason: 'The client misses the sessions on the other pages.',
    observability: 'black-box',
  },
  'CLIENT-055': {
    level: 'must',
    section: '4.3',
    statements: ['4.3.14', '4.3.r3', '4.4.9'],
    rule: 'The pages of a list leave no gap: `skip` is at most the end of the previous page.',
    reason: 'The client misses the sessions in the gap.',
    observability: 'black-box',
  },
  'CLIENT-056': {
    level: 'must',
    section: '4.3',
    statements: ['2.6.11', '4.3.r3'],
    rule: 'All pages of a list are read with the same filters.',
    reason:
      '`skip` counts the sessions that match the filters, so another filter selects other sessions.',
    observability: 'black-box',
  },
} as const satisfies Ledger;
