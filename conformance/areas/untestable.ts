import type { Unseen } from '../engine/requirement.ts';

const DEFINITION = 'It explains a word or a heading; nothing can obey or break it.';
const SERVICE_ACT = 'It is an act of the service; a sandbox only receives it.';
const SERVICE_WORD =
  'It explains a word or a heading of the service; nothing can obey or break it.';
const SILENCE = 'It says what the specification does not say.';

/** Statements that no check can have, each with its reason. */
export const unseen: readonly Unseen[] = [
  { statements: ['0.1', '0.3', '0.4', '0.6', '1.3', '4.b1', '8.b1'], because: DEFINITION },
  { statements: ['2.7.2'], because: `${DEFINITION} CHAT-010 sends a history.` },
  { statements: ['2.10.6', '9.3'], because: `${DEFINITION} Any string is a version.` },
  { statements: ['1.5', '1.6', '3.2.3', '3.2.5', '4.6.9', '5.b1', '5.b3'], because: SERVICE_ACT },
  { statements: ['2.9.4'], because: `${SERVICE_ACT} USERS-008 sends an id without the prefix.` },
  { statements: ['2.7.13'], because: `${SERVICE_ACT} The kit keeps it: it sends no tools.` },
  { statements: ['9.4'], because: 'The kit keeps it: it draws no interface version from version.' },
  { statements: ['6.1', '6.2', '9.5'], because: SILENCE },
  { statements: ['2.11.1'], because: DEFINITION },
  { statements: ['7.b16'], because: `${SILENCE} The dialect shows the codes.` },
  {
    statements: ['8.b8'],
    because: 'It needs 100 calls at once, which a check must not place: see load.',
  },
  {
    statements: ['8.b3'],
    because: 'It needs 100 requests a second for minutes, which a check must not send: see load.',
  },
  {
    statements: ['8.b4'],
    because: 'Availability is a share over a testing window; one run can neither show nor deny it.',
  },
  {
    statements: ['0.2', '0.5', '1.1', '1.15', '1.17', '1.18', '2.2.1', '4.a1', '4.2.7'],
    because: SERVICE_WORD,
  },
  { statements: ['5.a2', '7.a6', '8.a4'], because: SERVICE_WORD },
  {
    statements: ['2.6.9', '3.1.25', '4.4.18', '5.a6', '7.a4', '7.a10', '7.a11'],
    because: `${SILENCE} The dialect shows what a service does.`,
  },
  { statements: ['1.12', '5.a5'], because: `${SILENCE} It is about a way in that is elsewhere.` },
  {
    statements: ['3.1.26'],
    because: `${SILENCE} Sessions are listed once they are scored; what they were before is not.`,
  },
  {
    statements: ['8.a9'],
    because: `${SILENCE} To find a limit, a check would have to be a load test.`,
  },
  { statements: ['2.1.r1b'], because: 'It is an act of the sender. The kit keeps it.' },
  { statements: ['3.1.18'], because: 'No answer of the interface shows what was logged.' },
];
