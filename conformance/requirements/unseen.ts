import type { Unseen } from './requirement.ts';

const DEFINITION = 'It explains a word or a heading; nothing can obey or break it.';
const SERVICE_ACT = 'It is an act of the service; a sandbox only receives it.';
const SILENCE = 'It says what the specification does not say.';

/** Statements on chat, health and users that no check can have, each with its reason. */
export const unseen: readonly Unseen[] = [
  { statements: ['0.1', '0.3', '0.4', '0.6', '1.3', '4.b1', '8.b1'], because: DEFINITION },
  { statements: ['2.7.2'], because: `${DEFINITION} CHAT-010 sends a history.` },
  { statements: ['2.10.6', '9.3'], because: `${DEFINITION} Any string is a version.` },
  { statements: ['1.5', '1.6', '3.2.3', '3.2.5', '4.6.9', '5.b1', '5.b3'], because: SERVICE_ACT },
  { statements: ['2.9.4'], because: `${SERVICE_ACT} USERS-008 sends an id without the prefix.` },
  { statements: ['2.7.13'], because: `${SERVICE_ACT} The kit keeps it: it sends no tools.` },
  { statements: ['9.4'], because: 'The kit keeps it: it draws no interface version from version.' },
  { statements: ['6.1', '6.2', '9.5'], because: SILENCE },
  {
    statements: ['8.b3'],
    because: 'It needs 100 requests a second for minutes, which a check must not send: see load.',
  },
  {
    statements: ['8.b4'],
    because: 'Availability is a share over a testing window; one run can neither show nor deny it.',
  },
];
