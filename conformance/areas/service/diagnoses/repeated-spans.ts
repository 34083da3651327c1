import {
  isAccepted,
  isRateLimited,
  type Exchange,
  type Transcript,
} from '../../../engine/transcript/reading.ts';
import { respond } from '../../diagnoses/conforming-response.ts';
import { describeSeen, findExample, nonEmpty, type Diagnosis } from '../../diagnoses/seen.ts';
import { ownerOf } from '../owners.ts';
import { sentSpans } from '../transcript.ts';

/** Recognizes a service that refuses requests with a span that it has stored before. */
export function findRefusedRepetitions({ exchanges }: Transcript): Diagnosis[] {
  const sent = exchanges.filter(
    (exchange) =>
      exchange.endpoint === 'traces' &&
      exchange.intent === 'valid' &&
      exchange.response !== undefined &&
      !isRateLimited(exchange),
  );
  const repetitions = sent.filter((exchange) =>
    sent.some(
      (other) =>
        isAccepted(other) && other.startedMs <= exchange.endedMs && sharesSpan(exchange, other),
    ),
  );
  const refused = repetitions.filter((exchange) => !isAccepted(exchange));
  const statuses = new Set(refused.map(({ response }) => response?.status));
  const seen = nonEmpty(refused);
  // A single request may be refused for another reason, such as its content type.
  const areAllRefused = refused.length > 1 && refused.length === repetitions.length;
  if (!seen || !areAllRefused || statuses.size > 1) return [];
  return [
    {
      seen,
      fault: `requests with a span that was sent before are refused with ${findExample(seen).response?.status} (${describeSeen(seen)})`,
      cure: 'Ignore a span whose id is already stored, store the others of the request, and respond with 200: exporters repeat requests whose response they did not get',
      repair: () => respond(200, {}),
    },
  ];
}

const sharesSpan = (exchange: Exchange, other: Exchange): boolean => {
  if (other === exchange || ownerOf(other) !== ownerOf(exchange)) return false;
  const ids = new Set(sentSpans(other).map(({ spanId }) => spanId));
  return sentSpans(exchange).some(({ spanId }) => ids.has(spanId));
};
