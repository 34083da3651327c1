import type { Ledger } from '../../../engine/requirement.ts';

const MIXED_TURNS =
  'Turns would be scored as part of another conversation, or the conversation could never be closed.';

/** Requirements of conversation ids, their owners, late spans, and the backlog (spec 1, 2.1, 3.1, 4.2, 5). */
export const conversationRequirements = {
  'SERVICE-060': {
    level: 'must',
    section: '3.1',
    statements: ['1.10', '3.1.6', '3.1.12'],
    rule: 'Spans that arrive after a conversation was scored do not change its outcomes.',
    reason: 'A build that read the results could no longer rely on them.',
    observability: 'black-box',
  },
  'SERVICE-061': {
    level: 'must',
    section: '1',
    statements: ['1.8', '3.1.1'],
    rule: 'Spans of two conversations in one trace request create two conversations.',
    reason: 'Exporters batch spans of all conversations; their turns would be mixed or lost.',
    observability: 'black-box',
  },
  'SERVICE-062': {
    level: 'must',
    section: '3.1',
    statements: ['3.1.22', '3.1.23'],
    rule: 'Scoring the backlog uses all configured evals and adds each conversation to the run of its date.',
    reason: 'A backlog of several days would look like the results of one day.',
    observability: 'provoked',
  },
  'SERVICE-063': {
    level: 'must',
    section: '3.1',
    statements: ['3.1.24'],
    rule: 'The service refuses to score the backlog while no evals are configured.',
    reason: 'Scoring would appear to succeed without producing any result.',
    observability: 'provoked',
  },
  'SERVICE-064': {
    level: 'must',
    section: '3.1',
    statements: ['3.1.15'],
    rule: 'A conversation that closed without configured evals keeps its turns until it is scored.',
    reason: 'There would be nothing left to score.',
    observability: 'provoked',
  },
  'SERVICE-065': {
    level: 'must',
    section: '2.1',
    statements: ['2.1.1', '4.2.2'],
    rule: 'Conversation ids that differ only in case identify different conversations.',
    reason: MIXED_TURNS,
    observability: 'provoked',
  },
  'SERVICE-066': {
    level: 'must',
    section: '4.2',
    statements: ['2.1.1', '4.2.2'],
    rule: '`POST /v1/sessions/{id}/end` accepts ids with encoded spaces, slashes, percent signs, and non-ASCII letters.',
    reason: MIXED_TURNS,
    observability: 'provoked',
  },
  'SERVICE-067': {
    level: 'must',
    section: '5',
    statements: ['5.a3'],
    rule: 'A key cannot close a conversation of another owner.',
    reason:
      'Later spans are not scored, so any customer could cut off the conversations of others.',
    observability: 'provoked',
  },
} as const satisfies Ledger;
