/** The options of calls, which are the field `voice` of a run. */
import { optionsSchema } from './table.ts';
import { flagOnly, group, nestedOption, option } from './option.ts';
import * as values from './values.ts';

/** Default type and field of the message with the WebRTC answer. */
export const ANSWER_NAME = 'webrtc_answer';

/** How calls are placed. */
export const callOptions = group('Voice', {
  url: option(values.webSocketUrl, 'URL', 'URL of the voice WebSocket', {
    flag: 'voice-url',
    default: 'URL/voice',
    isShared: true,
    inCode: 'URL of the voice WebSocket (default: `/voice` of the sandbox).',
  }),
  answerType: option(values.text, 'TYPE', 'Type of the message with the WebRTC answer', {
    flag: 'voice-answer-type',
    default: ANSWER_NAME,
    isShared: true,
  }),
  answerField: option(values.text, 'FIELD', 'Field of that message with the answer', {
    flag: 'voice-answer-field',
    default: ANSWER_NAME,
    isShared: true,
  }),
  mediaAddress: option(values.localAddress, 'IP', 'IP address of this machine for media', {
    default: 'the address that reached the WebSocket',
    isShared: true,
  }),
});

/** The settings of the calls of a run. */
export const voice = nestedOption(callOptions, {
  schema: optionsSchema(callOptions),
  type: 'CallTarget',
  about: 'Settings of calls.',
});

/** How calls are placed and recorded. */
export const voiceOptions = {
  voice,
  ...flagOnly(
    group('Voice', {
      saveAudio: option(values.filePath, 'DIR', 'Save the audio of every call as Ogg Opus files'),
    }),
  ),
};
