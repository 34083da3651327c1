import type { Ledger } from '../../../engine/requirement.ts';

/** What the interface asks of what comes after a close, and of what comes together (spec 1, 3.1). */
export const serviceLateRequirements = {
  'SERVICE-060': {
    level: 'must',
    section: '3.1',
    statements: ['1.10', '3.1.6', '3.1.12'],
    rule: 'Spans that come after a conversation was closed and scored do not change its scores.',
    reason: 'Closing is what queues evals. Whoever has read a result must be able to rely on it.',
    seen: 'black-box',
  },
  'SERVICE-061': {
    level: 'must',
    section: '1',
    statements: ['1.8', '3.1.1'],
    rule: 'Spans of two conversations in one trace request make two conversations.',
    reason: 'Exporters send what is there in batches, whichever conversation it is of.',
    seen: 'black-box',
  },
  'SERVICE-062': {
    level: 'must',
    section: '3.1',
    statements: ['3.1.22', '3.1.23'],
    rule: 'A backlog is scored by the saved evals, each conversation in the run of its own date.',
    reason: 'A backlog would look like one bad day.',
    seen: 'provoked',
  },
  'SERVICE-063': {
    level: 'must',
    section: '3.1',
    statements: ['3.1.24'],
    rule: 'With no evals configured, scoring a backlog is refused.',
    reason: 'It would come to nothing without a word.',
    seen: 'provoked',
  },
  'SERVICE-064': {
    level: 'must',
    section: '3.1',
    statements: ['3.1.15'],
    rule: 'What closed with no evals configured keeps its traces until it is scored.',
    reason: 'There would be nothing left to score.',
    seen: 'provoked',
  },
} as const satisfies Ledger;
