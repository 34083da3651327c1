import type { UntestableStatements } from '../engine/requirement.ts';

const DEFINITION = 'It explains a word or a heading; nothing can obey or break it.';
const SERVICE_ACT = 'It is an act of the service; a sandbox only receives it.';
const SERVICE_WORD =
  'It explains a word or a heading of the service; nothing can obey or break it.';
const SILENCE = 'It says what the specification does not say.';

/** Statements that no check can have, each with its reason. */
export const untestable: readonly UntestableStatements[] = [
  { statements: ['0.1', '0.3', '0.4', '0.6', '1.3', '4.b1', '8.b1'], reason: DEFINITION },
  { statements: ['2.7.2'], reason: `${DEFINITION} CHAT-010 sends a history.` },
  { statements: ['2.10.6', '9.3'], reason: `${DEFINITION} Any string is a version.` },
  { statements: ['1.5', '1.6', '3.2.3', '3.2.5', '4.6.9', '5.b1', '5.b3'], reason: SERVICE_ACT },
  { statements: ['2.9.4'], reason: `${SERVICE_ACT} USERS-008 sends an id without the prefix.` },
  { statements: ['2.7.13'], reason: `${SERVICE_ACT} The kit keeps it: it sends no tools.` },
  { statements: ['9.4'], reason: 'The kit keeps it: it draws no interface version from version.' },
  { statements: ['6.1', '6.2', '9.5'], reason: SILENCE },
  { statements: ['2.11.1'], reason: DEFINITION },
  { statements: ['7.b16'], reason: `${SILENCE} The dialect shows the codes.` },
  {
    statements: ['8.b8'],
    reason: 'It needs 100 calls at once, which a check must not place: see load.',
  },
  {
    statements: ['8.b3'],
    reason: 'It needs 100 requests a second for minutes, which a check must not send: see load.',
  },
  {
    statements: ['8.b4'],
    reason: 'Availability is a share over a testing window; one run can neither show nor deny it.',
  },
  {
    statements: ['0.2', '0.5', '1.1', '1.15', '1.17', '1.18', '2.2.1', '4.a1', '4.2.7'],
    reason: SERVICE_WORD,
  },
  { statements: ['5.a2', '7.a6', '8.a4'], reason: SERVICE_WORD },
  {
    statements: ['2.6.9', '3.1.25', '4.4.18', '5.a6', '7.a4', '7.a10', '7.a11'],
    reason: `${SILENCE} The dialect shows what a service does.`,
  },
  { statements: ['1.12', '5.a5'], reason: `${SILENCE} It is about a way in that is elsewhere.` },
  {
    statements: ['3.1.26'],
    reason: `${SILENCE} Sessions are listed once they are scored; what they were before is not.`,
  },
  {
    statements: ['8.a9'],
    reason: `${SILENCE} To find a limit, a check would have to be a load test.`,
  },
  { statements: ['2.1.r1b'], reason: 'It is an act of the sender. The kit keeps it.' },
  { statements: ['3.1.18'], reason: 'No answer of the interface shows what was logged.' },
];
