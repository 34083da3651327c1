import type { Ledger } from '../../../engine/requirement.ts';

const SUMS_WHY = 'Builds pass and fail by these numbers.';
const ORDER_WHY = 'Who reads a conversation reads its turns by these numbers.';
const TIMES_WHY = 'It would have lasted less than no time.';

/** How what is said of a session goes together: counts, rates, turns, times (spec 2.3 to 2.6). */
export const serviceSumRequirements = {
  'SERVICE-122': {
    level: 'must',
    section: '2.3',
    statements: ['1.2', '2.3.6', '3.1.6'],
    rule: 'A closed conversation has as many evaluations as its close response queued.',
    reason: 'A program that waits for so many waits for ever, or not long enough.',
    seen: 'black-box',
  },
  'SERVICE-123': {
    level: 'must',
    section: '2.6',
    statements: ['2.6.4'],
    rule: 'The pass_rate of a production session is the share of its evaluations that passed.',
    reason: SUMS_WHY,
    seen: 'black-box',
  },
  'SERVICE-124': {
    level: 'must',
    section: '2.5',
    statements: ['2.5.13'],
    rule: 'session_sequence numbers the turns of a production session: each has its own number, in their order.',
    reason: ORDER_WHY,
    seen: 'black-box',
  },
  'SERVICE-125': {
    level: 'must',
    section: '2.5',
    statements: ['2.5.8'],
    rule: 'No production session ends before it starts.',
    reason: TIMES_WHY,
    seen: 'black-box',
  },
  'SERVICE-157': {
    level: 'must',
    section: '2.6',
    statements: ['2.6.1', '2.6.2', '2.6.3'],
    rule: 'No summary of a simulation session counts more passed and failed evaluations than there are.',
    reason: SUMS_WHY,
    seen: 'black-box',
  },
  'SERVICE-158': {
    level: 'should',
    section: '1',
    statements: ['1.2'],
    rule: 'Without failed_only, a simulation session lists as many outcomes as were evaluated.',
    reason: 'An outcome that is not listed has no reasoning.',
    seen: 'black-box',
  },
  'SERVICE-159': {
    level: 'must',
    section: '2.6',
    statements: ['2.6.4'],
    rule: 'The pass_rate of a simulation session is the share of its evaluations that passed.',
    reason: SUMS_WHY,
    seen: 'black-box',
  },
  'SERVICE-160': {
    level: 'must',
    section: '2.4',
    statements: ['2.4.16'],
    rule: 'session_sequence numbers the turns of a simulation session: each has its own number, in their order.',
    reason: ORDER_WHY,
    seen: 'black-box',
  },
  'SERVICE-161': {
    level: 'must',
    section: '2.4',
    statements: ['2.4.11'],
    rule: 'No simulation session ends before it starts.',
    reason: TIMES_WHY,
    seen: 'black-box',
  },
  'SERVICE-162': {
    level: 'must',
    section: '2.4',
    statements: ['2.4.14', '2.4.16', '4.3.13'],
    rule: 'With include_traces=true the turns of a simulation session are those that it had.',
    reason: 'Who looks for why an eval failed reads them.',
    seen: 'provoked',
  },
  'SERVICE-163': {
    level: 'should',
    section: '2.4',
    statements: ['2.4.14', '4.3.13', '4.3.r1b'],
    rule: 'With include_traces=true some simulation session that was scored has turns.',
    reason: 'An empty list would say that nothing was said.',
    seen: 'black-box',
  },
} as const satisfies Ledger;
