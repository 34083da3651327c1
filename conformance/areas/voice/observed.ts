import { valueAt } from '../../../src/contract/index.ts';
import { describeOutcome, toPrintable, type Exchange } from '../../engine/transcript/reading.ts';
import {
  sandboxCloseOf,
  isOpened,
  isVoice,
  callReadyOf,
  sandboxMessagesOf,
  startCallOf,
} from '../../engine/transcript/call-messages.ts';
import { observeEach, type ObservedBehavior } from '../../engine/judge/observed.ts';

const step =
  (...names: string[]) =>
  (one: Exchange): boolean =>
    isVoice(one) && names.includes(one.step);

/** What a sandbox did with a call: an error, a call, nothing, and how it ended. */
function reaction(one: Exchange): string {
  if (!isOpened(one)) return describeOutcome(one);
  const [error] = sandboxMessagesOf(one, 'error');
  const code = valueAt(error?.json, '/error/code');
  const said = error
    ? `error ${typeof code === 'string' ? toPrintable(code, 40) : 'without a code'}`
    : callReadyOf(one)
      ? 'call_ready'
      : 'no message';
  return sandboxCloseOf(one) || one.failure ? `${said}, ${describeOutcome(one).slice(5)}` : said;
}

/** What came of the last message of the kit, which was sent in a call. */
function reactionInCall(one: Exchange): string {
  const error = sandboxMessagesOf(one, 'error').length > 0;
  return error || sandboxCloseOf(one) ? reaction(one) : 'passed over';
}

const ids = (one: Exchange): string =>
  valueAt(callReadyOf(one)?.json, '/session_id') === undefined ? 'left out' : 'made up';

const KNOWN = ['call_ready', 'conversation_update', 'error', 'ice_candidate'];
const others = (one: Exchange): string[] =>
  sandboxMessagesOf(one).flatMap(({ type }) =>
    type === undefined || KNOWN.includes(type) ? [] : toPrintable(type, 40) || '""',
  );

/** The silences of the voice endpoint (spec 4.9, 5, 6, 7). */
const behaviors: readonly ObservedBehavior[] = [
  { name: 'voice without the subprotocol', of: step('no subprotocol'), describe: reaction },
  { name: 'voice with another subprotocol', of: step('another subprotocol'), describe: reaction },
  { name: 'voice without a key', of: step('no key'), describe: reaction },
  { name: 'voice with a wrong key', of: step('wrong key'), describe: reaction },
  {
    name: 'an unsupported codec',
    of: step('unsupported codec', 'unsupported codec, full'),
    describe: reaction,
  },
  { name: 'start_call without audio_config', of: step('no audio_config'), describe: reaction },
  { name: 'start_call in a binary frame', of: step('binary start_call'), describe: reaction },
  { name: 'a second start_call', of: step('second start_call'), describe: reactionInCall },
  { name: 'a message that is not JSON', of: step('not JSON'), describe: reaction },
  { name: 'a message without a type', of: step('no type'), describe: reaction },
  { name: 'a message of an unknown type', of: step('unknown type'), describe: reactionInCall },
  {
    name: 'an answer that is no description',
    of: step('answer unusable'),
    describe: reactionInCall,
  },
  { name: 'keys that do not fit the answer', of: step('keys refused'), describe: reactionInCall },
  {
    name: 'session_id of a call without one',
    of: (one) =>
      callReadyOf(one) !== undefined &&
      startCallOf(one) !== undefined &&
      !('session_id' in (startCallOf(one) ?? {})),
    describe: ids,
  },
  {
    name: 'messages of other types',
    of: (one) => isVoice(one) && others(one).length > 0,
    describe: (one) => [...new Set(others(one))].slice(0, 5).join(', '),
  },
];

/** Returns what a sandbox does with calls where the specification is silent. */
export const observeVoice = observeEach(behaviors);
