import { observeEach } from '../../../engine/judge/observed.ts';
import type { Exchange } from '../../../engine/transcript/reading.ts';
import { isStep, type TracesStep } from '../steps.ts';

const isTraces =
  (step: TracesStep) =>
  (exchange: Exchange): boolean =>
    isStep(exchange, 'traces', step);

/** Returns how the service responds to unspecified trace requests. */
export const observeIngest = observeEach([
  { name: 'POST /v1/traces with no spans', of: isTraces('no spans') },
  { name: 'messages that are not JSON', of: isTraces('messages not JSON') },
  { name: 'messages as structured values', of: isTraces('messages as values') },
  { name: 'span ids in base64', of: isTraces('ids in base64') },
  { name: 'a trace body that is not JSON', of: isTraces('body not JSON') },
  { name: 'an empty trace body', of: isTraces('body empty') },
  { name: 'a trace body that is not protobuf', of: isTraces('body not protobuf') },
  { name: 'a trace body that is not gzip', of: isTraces('body not gzip') },
  { name: 'an unknown content encoding', of: isTraces('encoding unknown') },
  { name: 'a body that inflates to over 10 MB', of: isTraces('inflates to over 10 MB') },
]);
