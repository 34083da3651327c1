/** The sizes of chat requests that the specification neither allows nor forbids. */
import type { ObservedBehaviors } from '../../../src/contract/index.ts';
import { describeError } from '../../engine/judge/observed.ts';
import { requestBytesOf } from '../../engine/transcript/body-length.ts';
import { isAccepted, type Transcript } from '../../engine/transcript/reading.ts';
import { type ChatStep, isChatStep } from './requests.ts';

/** Bodies around the usual limits of frameworks and proxies, above what every sandbox must accept. */
export const OPEN_BODY_BYTES = [102_400, 131_072, 1_048_576] as const;

/** Names a number of bytes: "100 kB", "1 MB". */
const formatBytes = (bytes: number): string =>
  bytes >= 1_048_576 ? `${bytes / 1_048_576} MB` : `${Math.round(bytes / 1024)} kB`;

/** Returns the step of a body of this size. */
export const bodyStep = (bytes: number): ChatStep => `body of ${formatBytes(bytes)}`;

/** Returns the size of the largest accepted chat request in bytes; undefined if none was accepted. */
function largestAcceptedBytes({ exchanges }: Transcript): number | undefined {
  const accepted = exchanges.filter(
    (exchange) => exchange.endpoint === 'chat' && isAccepted(exchange),
  );
  return accepted.length === 0 ? undefined : Math.max(...accepted.map(requestBytesOf));
}

/** Reports the largest accepted chat request, and what a larger one got. */
export function observeBodySizes(transcript: Transcript): ObservedBehaviors {
  const shown = transcript.exchanges.filter(isChatStep(...OPEN_BODY_BYTES.map(bodyStep)));
  const largest = largestAcceptedBytes(transcript);
  if (shown.length === 0 || largest === undefined) return {};
  const [refused] = shown
    .filter((exchange) => !isAccepted(exchange))
    .sort((a, b) => requestBytesOf(a) - requestBytesOf(b));
  const rest = refused
    ? `; ${formatBytes(requestBytesOf(refused))} gets ${describeError(refused)}`
    : '';
  return { 'largest chat request': `${formatBytes(largest)} accepted${rest}` };
}
