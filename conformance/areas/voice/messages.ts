/** The properties of every message that a sandbox sends in a call (spec 4.9, 6). */
import { parseMessage } from '../../../src/voice/call/messages.ts';
import { checkEach } from '../../engine/checks/check.ts';
import type { VoiceTransformFactory } from '../../engine/mutants/mutant.ts';
import { type DistortionEntry, type Subject, withDefaults } from '../../engine/requirement.ts';
import { sandboxMessagesOf } from '../../engine/transcript/call-messages.ts';
import { toPrintable, type Exchange } from '../../engine/transcript/reading.ts';
import { unlessAbsent } from './absence.ts';
import {
  distortCalls,
  handleCalls,
  interceptMessages,
  replaceMessages,
} from './call-transforms.ts';
import { callFinding, checkCalls, explainNoCall } from './evidence.ts';
import { KNOWN_TYPES } from './observed.ts';

const hasMessages = (exchange: Exchange): boolean => sandboxMessagesOf(exchange).length > 0;

const sendsFirst = (description: string, text: string): DistortionEntry =>
  distortCalls(
    description,
    replaceMessages('call_ready', (message) => [text, message]),
  );

/** Rewrites every sandbox message. */
const rewriteMessages = (
  rewrite: (text: string) => [text: string, isBinary?: boolean],
): VoiceTransformFactory =>
  handleCalls((ends) => ({ fromSandbox: (text) => ends.toKit(...rewrite(text)) }));

const defaults = {
  section: '6',
  probes: ['voice/forms'],
  wrapCheck: unlessAbsent,
} as const;

export const messages: Subject = {
  requirements: withDefaults(defaults, {
    'VOICE-014': {
      rule: 'Every message of the sandbox is a JSON object with a `type` string.',
      statements: ['4.9.6', '6.3'],
      reason: 'The service tells messages apart by `type`; it ignores a message without one.',
      check: checkEach(
        hasMessages,
        (exchange) =>
          sandboxMessagesOf(exchange)
            .filter(({ type, event }) => type === undefined && event.bytes === undefined)
            .map(({ event }) =>
              callFinding(
                exchange,
                'a JSON object with a type',
                toPrintable(event.text ?? '') || 'an empty message',
              ),
            ),
        explainNoCall,
      ),
      mutants: {
        'says-text': sendsFirst('Sends a message that is not JSON.', 'ready'),
        'says-a-list': sendsFirst('Sends a JSON array.', '[]'),
        'says-no-type': sendsFirst('Sends an object without `type`.', '{"ok":true}'),
        'says-a-typed-number': sendsFirst('Sends `type` as a number.', '{"type":7}'),
      },
      legal: {
        pretty: distortCalls(
          'Indents its messages.',
          rewriteMessages((text) => [JSON.stringify(parseMessage(text), null, 2)]),
        ),
      },
    },
    'VOICE-015': {
      level: 'may',
      rule: 'The sandbox sends its messages in text frames.',
      statements: ['6.3'],
      reason: "The specification doesn't state the frame type, so binary frames are only reported.",
      check: checkCalls(hasMessages, (exchange) =>
        sandboxMessagesOf(exchange).some(({ event }) => event.isBinary)
          ? ['a text frame', 'a binary frame']
          : undefined,
      ),
      legal: {
        binary: distortCalls(
          'Sends its messages in binary frames.',
          rewriteMessages((text) => [text, true]),
        ),
      },
    },
    'VOICE-016': {
      level: 'may',
      rule: 'The sandbox sends only messages whose type the interface defines.',
      statements: ['6.3'],
      reason:
        'The service ignores other messages. They are reported because they help to understand a call.',
      check: checkEach(
        hasMessages,
        (exchange) =>
          sandboxMessagesOf(exchange).flatMap(({ type }) =>
            type === undefined || KNOWN_TYPES.includes(type)
              ? []
              : [callFinding(exchange, `one of ${KNOWN_TYPES.join(', ')}`, toPrintable(type, 40))],
          ),
        explainNoCall,
      ),
      legal: {
        'more-messages': distortCalls(
          'Sends messages that the interface does not define.',
          replaceMessages('call_ready', (message) => [
            { type: 'hello' },
            message,
            { type: 'status', up: true },
          ]),
        ),
      },
    },
  }),
  legal: {
    'closes-unknown': distortCalls(
      'Closes the WebSocket after an unknown message.',
      interceptMessages(
        ({ type }) => type !== 'start_call' && type !== 'webrtc_answer',
        (ends) => {
          ends.closeKit(1003);
          ends.closeSandbox();
        },
      ),
    ),
  },
};
