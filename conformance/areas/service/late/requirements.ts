import type { Ledger } from '../../../engine/requirement.ts';

/** What the interface asks of what comes after a close, and of what comes together (spec 1, 3.1). */
export const serviceLateRequirements = {
  'SERVICE-060': {
    level: 'must',
    section: '3.1',
    statements: ['1.10', '3.1.6', '3.1.12'],
    says: 'Spans that come after a conversation was closed and scored do not change its scores.',
    why: 'Closing is what queues evals. Whoever has read a result must be able to rely on it.',
    seen: 'black-box',
  },
  'SERVICE-061': {
    level: 'must',
    section: '1',
    statements: ['1.8', '3.1.1'],
    says: 'Spans of two conversations in one trace request make two conversations.',
    why: 'Exporters send what is there in batches, whichever conversation it is of.',
    seen: 'black-box',
  },
  'SERVICE-062': {
    level: 'must',
    section: '3.1',
    statements: ['3.1.22', '3.1.23'],
    says: 'A backlog is scored by the saved evals, each conversation in the run of its own date.',
    why: 'A backlog would look like one bad day.',
    seen: 'provoked',
  },
  'SERVICE-063': {
    level: 'must',
    section: '3.1',
    statements: ['3.1.24'],
    says: 'With no evals configured, scoring a backlog is refused.',
    why: 'It would come to nothing without a word.',
    seen: 'provoked',
  },
  'SERVICE-064': {
    level: 'must',
    section: '3.1',
    statements: ['3.1.15'],
    says: 'What closed with no evals configured keeps its traces until it is scored.',
    why: 'There would be nothing left to score.',
    seen: 'provoked',
  },
} as const satisfies Ledger;
