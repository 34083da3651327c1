import type { Area } from '../../contract/index.ts';
import type { CallTarget } from '../../library/call-target.ts';
import { UsageError } from '../errors.ts';
import type { ValueOrigin } from './config-file.ts';
import { group, option, shared } from './option.ts';
import * as values from './values.ts';

/** Default type and field of the message with the WebRTC answer. */
const ANSWER_NAME = 'webrtc_answer';

/** Options for how calls are placed. */
export const callOptions = group('Voice', {
  'voice-url': shared(
    option(values.webSocketUrl, 'URL', 'URL of the voice WebSocket', 'URL/voice'),
  ),
  'voice-answer-type': shared(
    option(values.text, 'TYPE', 'Type of the message with the WebRTC answer', ANSWER_NAME),
  ),
  'voice-answer-field': shared(
    option(values.text, 'FIELD', 'Field of that message with the answer', ANSWER_NAME),
  ),
  'media-address': shared(
    option(
      values.localAddress,
      'IP',
      'IP address of this machine for media',
      'the address that reached the WebSocket',
    ),
  ),
});

/** Options for how calls are placed and recorded. */
export const voiceOptions = {
  ...callOptions,
  ...group('Voice', {
    'save-audio': option(values.filePath, 'DIR', 'Save the audio of every call as Ogg Opus files'),
  }),
};

/** The values of the voice options. */
export interface VoiceValues {
  'voice-url'?: string | undefined;
  'voice-answer-type'?: string | undefined;
  'voice-answer-field'?: string | undefined;
  'media-address'?: string | undefined;
  'save-audio'?: string | undefined;
}

/**
 * Returns the first of these options that the command line sets. A configuration file may set options
 * that not every run uses.
 */
export function findSetOption(
  names: readonly string[],
  values: object,
  origin: ValueOrigin,
): string | undefined {
  const setNames = new Map(Object.entries(values));
  return names.find((name) => setNames.get(name) !== undefined && !origin.isFromFile(name));
}

/**
 * Returns how calls are placed.
 *
 * @throws {UsageError} if a voice option is set but the areas exclude voice.
 */
export function voiceSettingsOf(
  flags: VoiceValues & { area?: readonly Area[] | undefined },
  origin: ValueOrigin,
): CallTarget {
  const unused = findSetOption(Object.keys(voiceOptions), flags, origin);
  if (unused !== undefined && flags.area && !flags.area.includes('voice')) {
    throw new UsageError(
      `--${unused} needs the voice area, but --area is ${flags.area.join(',')}. Add voice to --area, or remove --area.`,
    );
  }
  return {
    url: flags['voice-url'],
    answerType: flags['voice-answer-type'],
    answerField: flags['voice-answer-field'],
    mediaAddress: flags['media-address'],
  };
}
