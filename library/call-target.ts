import { ANSWER_NAME } from '../src/options/call.ts';
import type { CallTarget } from '../src/options/generated/options.ts';

/** Returns the settings of calls with defaults, in the form of the packages. */
export function resolveCallTarget({
  url,
  answerType,
  answerField,
  mediaAddress,
}: CallTarget = {}): {
  url?: string;
  answerForm: { type: string; field: string };
  mediaAddress: string | undefined;
} {
  return {
    ...(url !== undefined && { url }),
    answerForm: { type: answerType ?? ANSWER_NAME, field: answerField ?? ANSWER_NAME },
    mediaAddress,
  };
}
