import { valueAt } from '../../../src/contract/index.ts';
import {
  describeError,
  isAcceptedAt,
  observeEach,
  type ObservedBehavior,
} from '../../engine/judge/observed.ts';
import { stepsOf } from '../../engine/probe.ts';
import { isAccepted } from '../../engine/transcript/reading.ts';

const isStep = stepsOf('chat');

const behaviors: readonly ObservedBehavior[] = [
  { name: 'POST /v1/chat/completions', of: isAcceptedAt('chat') },
  { name: 'wrong key', of: isStep('wrong key'), describe: describeError },
  { name: 'no key', of: isStep('no key'), describe: describeError },
  { name: 'empty messages', of: isStep('no messages'), describe: describeError },
  { name: 'content in parts', of: isStep('content in parts'), describe: describeError },
  { name: 'chat user_id a number', of: isStep('user_id a number'), describe: describeError },
  { name: 'chat metadata a string', of: isStep('metadata a string'), describe: describeError },
  {
    name: 'content type text/plain',
    of: isStep('content type text/plain'),
    describe: describeError,
  },
  {
    name: 'session_id when none was sent',
    of: (exchange) => isStep('minimal')(exchange) && isAccepted(exchange),
    describe: ({ json }) => (valueAt(json, '/session_id') === undefined ? 'left out' : 'made up'),
  },
];

/** Returns what a sandbox does with chat requests where the specification is silent. */
export const observeChat = observeEach(behaviors);
