import type { Ledger } from '../../../engine/requirement.ts';

/** Requirements of end calls (spec 3.1, 4.2). */
export const closeRequirements = {
  'CLIENT-040': {
    level: 'must',
    section: '4.2',
    statements: ['3.1.19', '4.2.1', '4.2.2', '4.2.6', '7.a3'],
    rule: 'The id in `POST /v1/sessions/{conversation_id}/end` is the conversation id of spans that the client sent.',
    reason: 'The service responds with 404, and the conversation stays open for 24 hours.',
    observability: 'black-box',
  },
  'CLIENT-041': {
    level: 'must',
    section: '4.2',
    statements: ['4.2.4'],
    rule: '`POST /v1/sessions/{conversation_id}/end` has no body.',
    reason: 'Other implementations of the service may refuse a request with a body.',
    observability: 'black-box',
  },
  'CLIENT-042': {
    level: 'should',
    section: '3.1',
    statements: ['1.9', '3.1.1', '3.1.4'],
    rule: 'A conversation ends after its last span has been sent.',
    reason: 'The evals score an incomplete conversation, or the end call gets a 404.',
    observability: 'black-box',
  },
  'CLIENT-043': {
    level: 'may',
    section: '3.1',
    statements: ['1.9', '3.1.8'],
    rule: 'The client ends every conversation for which it sends spans.',
    reason: 'Without an end call, results appear only after 24 hours without activity.',
    observability: 'black-box',
  },
} as const satisfies Ledger;
