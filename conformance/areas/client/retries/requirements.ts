import type { Ledger } from '../../../engine/requirement.ts';

/** Requirements of a client after an error response (spec 3.1, 7, 8). */
export const retryRequirements = {
  'CLIENT-030': {
    level: 'must',
    section: '7',
    statements: ['7.a9'],
    rule: 'After a 429, the client waits until `Retry-After` has passed before it sends the request again.',
    reason: 'The service refuses the request again. A client that never waits never recovers.',
    observability: 'provoked',
  },
  'CLIENT-031': {
    level: 'should',
    section: '7',
    statements: ['7.a8', '7.a9'],
    rule: 'After a 429, the client repeats a request that contains spans or ends a conversation.',
    reason: 'Otherwise its spans are lost, or the conversation stays open for 24 hours.',
    observability: 'provoked',
  },
  'CLIENT-032': {
    level: 'should',
    section: '4.1',
    statements: ['4.1.7'],
    rule: 'After a 502, 503, or 504, the client repeats a request that contains spans or ends a conversation.',
    reason:
      'Otherwise a restart of the service loses spans. OTLP exporters retry after these statuses.',
    observability: 'provoked',
  },
  'CLIENT-033': {
    level: 'should',
    section: '4.1',
    statements: ['4.1.7'],
    rule: 'After a 502, 503, or 504, the client waits for `Retry-After`, or at least 100 ms, before it sends the request again.',
    reason: 'Clients that retry immediately keep an overloaded service from recovering.',
    observability: 'provoked',
  },
  'CLIENT-034': {
    level: 'should',
    section: '3.1',
    statements: ['3.1.2', '3.1.3'],
    rule: 'Spans that are sent again keep their span ids.',
    reason: 'The service recognizes repeated spans by their ids. With new ids, they count twice.',
    observability: 'provoked',
  },
  'CLIENT-035': {
    level: 'should',
    section: '7',
    statements: ['4.1.9', '7.a1', '7.a5', '7.a7'],
    rule: 'After a 400, 401, 403, 413, or 415, the client does not send the same request again.',
    reason: 'The service refuses it again, and each repetition counts against the rate limit.',
    observability: 'provoked',
  },
  'CLIENT-036': {
    level: 'should',
    section: '8',
    statements: ['5.a4', '7.a8', '8.a2'],
    rule: 'The client sends at most 120 trace requests per minute.',
    reason: 'The service refuses further requests with 429. Larger batches need fewer requests.',
    observability: 'black-box',
  },
} as const satisfies Ledger;
