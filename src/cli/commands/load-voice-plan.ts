import type { LoadOptions } from '../../../load/index.ts';
import type { LoadFlags } from '../flags/load-flags.ts';
import { UsageError } from '../flags/usage-error.ts';
import { callFlags } from '../flags/voice-flags.ts';

const CALLS = 100;
const CALLS_PER_SECOND = 10;
/** What a call keeps of its packets has to fit into memory. */
const SECONDS_OF_CALLS_MAX = 60_000;
const WINDOW_MS = 60_000;

/**
 * Which calls the flags plan; undefined where the profile has none.
 *
 * @throws {UsageError} where a flag is about calls and there are none, or there are too many.
 */
export function voicePlanOf(given: LoadFlags): LoadOptions['voice'] {
  const { profile, calls = CALLS, duration = WINDOW_MS } = given;
  if (profile !== 'voice' && profile !== 'all') {
    const names = ['calls', 'calls-per-second', ...Object.keys(callFlags)];
    const named = names.find((name) => given[name as keyof LoadFlags] !== undefined);
    if (named === undefined) return undefined;
    throw new UsageError(`--${named}: expected only together with --profile voice or all`);
  }
  if (profile === 'voice' && given.rate !== undefined) {
    throw new UsageError('--rate: expected without --profile voice, which has --calls');
  }
  const seconds = (calls * duration) / 1_000;
  if (seconds > SECONDS_OF_CALLS_MAX) {
    throw new UsageError(
      `--duration: expected at most ${SECONDS_OF_CALLS_MAX} s of all calls together, got ${seconds}`,
    );
  }
  return {
    calls,
    callsPerSecond: given['calls-per-second'] ?? CALLS_PER_SECOND,
    url: given['voice-url'],
    answerForm: {
      type: given['voice-answer-type'] ?? 'webrtc_answer',
      field: given['voice-answer-field'] ?? 'webrtc_answer',
    },
    mediaAddress: given['media-address'],
  };
}
