import type { Argv } from 'yargs';
import { z } from 'zod';
import type { Area } from '../../contract/index.ts';
import * as flags from './flags.ts';
import { ownAddress } from './own-addresses.ts';
import { UsageError } from './usage-error.ts';

type CheckOptions = Parameters<typeof import('../../../conformance/index.ts').check>[0];
type Voice = NonNullable<CheckOptions['voice']>;

const NO_VOICE_URL = 'expected the address of a WebSocket such as wss://sandbox.example.com/voice';

const voiceUrl = z
  .string({ error: NO_VOICE_URL })
  .refine((text) => /^wss?:\/\/[^@?#]+$/i.test(text) && URL.canParse(text), {
    error: ({ input }) => `${NO_VOICE_URL}, got ${JSON.stringify(input)}`,
  });

/** The flags of how calls are placed. */
export const callFlags = {
  'voice-url': voiceUrl.optional(),
  'voice-answer-type': flags.word.optional(),
  'voice-answer-field': flags.word.optional(),
  'media-address': ownAddress.optional(),
};

/** Those, and what becomes of their audio. */
export const voiceFlags = {
  ...callFlags,
  'save-audio': flags.filePath.optional(),
};

/** What they may be. */
export type VoiceFlags = z.infer<z.ZodObject<typeof voiceFlags>> & {
  area?: readonly Area[] | undefined;
};

/** The options of how calls are placed and kept, for the parser. */
export function voiceOptions(yargs: Argv): Argv {
  return callOptions(yargs).option('save-audio', {
    type: 'string',
    describe: 'folder for what was said, Ogg files',
  });
}

/** The options of how calls are placed. */
export function callOptions(yargs: Argv): Argv {
  return yargs
    .option('voice-url', { type: 'string', describe: 'of the WebSocket; else /voice of URL' })
    .option('voice-answer-type', {
      type: 'string',
      describe: 'type of the message that answers an offer; webrtc_answer',
    })
    .option('voice-answer-field', {
      type: 'string',
      describe: 'its field that holds the answer; webrtc_answer',
    })
    .option('media-address', { type: 'string', describe: 'IP of this machine for the media' });
}

/**
 * How calls are placed, as the flags say it.
 *
 * @throws {UsageError} where there are no calls that a flag could be about.
 */
export function voiceOf(given: VoiceFlags): Voice {
  const named = Object.keys(voiceFlags).find((name) => given[name as keyof typeof voiceFlags]);
  if (named !== undefined && given.area && !given.area.includes('voice')) {
    const area = given.area.join(',');
    throw new UsageError(
      `--${named}: there are no calls in --area ${area}: add voice to it, or leave --area out.`,
    );
  }
  const type = given['voice-answer-type'] ?? 'webrtc_answer';
  const field = given['voice-answer-field'] ?? 'webrtc_answer';
  return {
    ...(given['voice-url'] !== undefined && { url: given['voice-url'] }),
    answerForm: { type, field },
    mediaAddress: given['media-address'],
  };
}
