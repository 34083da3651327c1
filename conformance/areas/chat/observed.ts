import { type ObservedBehaviors, resolvePointer } from '../../../src/contract/index.ts';
import {
  describeError,
  isAcceptedAt,
  observeEach,
  type ObservedBehavior,
} from '../../engine/judge/observed.ts';
import { isAccepted, type Transcript } from '../../engine/transcript/reading.ts';
import { observeBodySizes } from './body-sizes.ts';
import { isChatStep } from './requests.ts';

const behaviors: readonly ObservedBehavior[] = [
  { name: 'POST /v1/chat/completions', of: isAcceptedAt('chat') },
  { name: 'wrong key', of: isChatStep('wrong key'), describe: describeError },
  { name: 'no key', of: isChatStep('no key'), describe: describeError },
  { name: 'empty messages', of: isChatStep('empty messages'), describe: describeError },
  { name: 'content in parts', of: isChatStep('content in parts'), describe: describeError },
  { name: 'chat user_id as a number', of: isChatStep('user_id a number'), describe: describeError },
  {
    name: 'chat metadata as a string',
    of: isChatStep('metadata a string'),
    describe: describeError,
  },
  {
    name: 'content type text/plain',
    of: isChatStep('content type text/plain'),
    describe: describeError,
  },
  {
    name: 'session_id without one in the request',
    of: (exchange) => isChatStep('minimal')(exchange) && isAccepted(exchange),
    describe: ({ json }) =>
      resolvePointer(json, '/session_id') === undefined ? 'omitted' : 'generated',
  },
];

/** Returns what a sandbox does with chat requests where the specification is silent. */
export const observeChat = (transcript: Transcript): ObservedBehaviors => ({
  ...observeEach(behaviors)(transcript),
  ...observeBodySizes(transcript),
});
