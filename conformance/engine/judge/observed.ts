import { brief, valueAt, type ObservedBehaviors } from '../../../src/contract/index.ts';
import {
  type Exchange,
  type Transcript,
  isAccepted,
  errorOf,
  describeOutcome,
  printable,
  isRateLimited,
} from '../transcript/reading.ts';
import { voiceSilences } from '../../areas/voice/observed.ts';
import { isServiceRun } from '../../areas/index.ts';
import { observeService } from '../../areas/service/observed.ts';

/** A silence of the specification: what it is called, and which exchanges show it. */
export interface ObservedBehavior {
  name: string;
  of: (one: Exchange) => boolean;
  /** What came, in words; the status when left out. */
  says?: (one: Exchange) => string;
}

const valid = (endpoint: Exchange['endpoint']) => (one: Exchange) =>
  one.endpoint === endpoint && one.intent === 'valid' && isAccepted(one);
const step = (endpoint: Exchange['endpoint'], name: string) => (one: Exchange) =>
  one.endpoint === endpoint && one.step === name;

/** The status, and the error's code where the answer has one. */
const withCode = (one: Exchange): string => {
  const code = errorOf(one)?.code;
  return code === undefined
    ? describeOutcome(one)
    : `${describeOutcome(one)} ${printable(code, 40)}`;
};

const made = (one: Exchange, key: string): string =>
  valueAt(one.json, `/${key}`) === undefined ? 'left out' : 'made up';

/** A string as it is, anything else as JSON. */
const wordOf = (value: unknown): string => (typeof value === 'string' ? value : brief(value));

const silences: readonly ObservedBehavior[] = [
  { name: 'POST /users', of: valid('create') },
  { name: 'DELETE /users/{user_id}', of: valid('delete') },
  { name: 'duplicate user', of: step('create', 'duplicate'), says: withCode },
  { name: 'user id beyond ASCII', of: step('create', 'letters beyond ASCII'), says: withCode },
  { name: 'user metadata a string', of: step('create', 'metadata a string'), says: withCode },
  { name: 'deleting an unknown user', of: step('delete', 'unknown user'), says: withCode },
  { name: 'deleting a user twice', of: step('delete', 'deleted again'), says: withCode },
  { name: 'creating a deleted user again', of: step('create', 'created again'), says: withCode },
  { name: 'POST /v1/chat/completions', of: valid('chat') },
  { name: 'wrong key', of: step('chat', 'wrong key'), says: withCode },
  { name: 'no key', of: step('chat', 'no key'), says: withCode },
  { name: 'empty messages', of: step('chat', 'no messages'), says: withCode },
  { name: 'content in parts', of: step('chat', 'content in parts'), says: withCode },
  { name: 'chat user_id a number', of: step('chat', 'user_id a number'), says: withCode },
  { name: 'chat metadata a string', of: step('chat', 'metadata a string'), says: withCode },
  { name: 'content type text/plain', of: step('chat', 'content type text/plain'), says: withCode },
  {
    name: 'session_id when none was sent',
    of: (one) => step('chat', 'minimal')(one) && isAccepted(one),
    says: (one) => made(one, 'session_id'),
  },
  {
    name: 'health',
    of: valid('health'),
    says: (one) => printable(wordOf(valueAt(one.json, '/status')), 40),
  },
  ...voiceSilences,
];

/** Without an answer nobody knows whose doing it was: that of the sandbox, or of what ended it. */
const isAnswered = (one: Exchange): boolean => one.response !== undefined && !isRateLimited(one);

/** The dialect card: what a sandbox does where the specification is silent. */
export function observeBehavior(transcript: Transcript): ObservedBehaviors {
  const { run, exchanges } = transcript;
  if (isServiceRun(run)) return observeService(transcript);
  return Object.fromEntries(
    silences.flatMap(({ name, of, says = describeOutcome }) => {
      const seen = new Set(exchanges.filter((one) => of(one) && isAnswered(one)).map(says));
      return seen.size === 0 ? [] : [[name, [...seen].join(', ')]];
    }),
  );
}
