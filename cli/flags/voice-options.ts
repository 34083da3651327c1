import type { Area } from '../../src/contract/index.ts';
import { voiceOptions } from '../../src/options/call.ts';
import { UsageError } from '../errors.ts';
import type { ValueOrigin } from './config-option.ts';
import { findSetFlag } from './set-flag.ts';

/** Returns the first option for calls that the command line sets, such as `--voice-url`. */
export function findVoiceFlag(values: object, origin: ValueOrigin): string | undefined {
  return findSetFlag(voiceOptions, Object.keys(voiceOptions), values, origin);
}

/** @throws {UsageError} if a flag for calls is set but the areas exclude voice. */
export function rejectVoiceOptions(
  values: { areas?: readonly Area[] | undefined },
  origin: ValueOrigin,
): void {
  const unused = findVoiceFlag(values, origin);
  if (unused === undefined || !values.areas || values.areas.includes('voice')) return;
  throw new UsageError(
    `${unused} needs the voice area, but --area is ${values.areas.join(',')}. Add voice to --area, or remove --area.`,
  );
}
