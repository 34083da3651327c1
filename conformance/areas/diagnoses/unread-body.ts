import { formatNumber } from '../../../src/report-kit/format.ts';
import { requestBytesOf } from '../../engine/transcript/body-length.ts';
import { findOwnMessage } from '../../engine/transcript/own-message.ts';
import { isAccepted, type Exchange, type Transcript } from '../../engine/transcript/reading.ts';
import { conformingResponse } from './conforming-response.ts';
import { describeSeen, findExample, nonEmpty, quoteBody, type Diagnosis } from './seen.ts';

/** Messages of JSON parsers. Those of validators are about a value. */
const PARSER_MESSAGE =
  /\b(?:not|invalid|malformed|bad)(?: an?)?(?: valid)? json\b|\bjson (?:parse|syntax|decod)|(?:parse|parsing|decode|decoding) (?:the )?json|unexpected (?:end|token)|syntax error/i;

/** Recognizes a sandbox that reads bodies wrongly, so that it refuses valid JSON or waits for more. */
export function findUnreadBodies({ run, exchanges }: Transcript): Diagnosis[] {
  const sent = exchanges.filter(
    ({ endpoint, intent }) => ['chat', 'create'].includes(endpoint) && intent === 'valid',
  );
  const seen = nonEmpty(sent.filter(isUnread));
  const read = sent.filter(isAccepted);
  if (!seen || read.length === 0) return [];
  const example = findExample(seen);
  const outcome = example.response
    ? `${example.response.status} with ${quoteBody(example)}`
    : `no response (${example.failure?.message ?? ''})`;
  const explanation = explain(seen, read);
  if (!explanation) return [];
  const [subject, cure, contrast = ''] = explanation;
  return [
    {
      seen,
      fault: `${subject} ${outcome} (${describeSeen(seen)})${contrast}`,
      cure,
      repair: (exchange) => conformingResponse(exchange, run),
    },
  ];
}

/** Returns whether a body was not read to its end, or only in part. */
const isUnread = (exchange: Exchange): boolean =>
  exchange.failure?.kind === 'timeout' ||
  (exchange.response?.status === 400 && PARSER_MESSAGE.test(findOwnMessage(exchange) ?? ''));

const isBeyondAscii = ({ request }: Exchange): boolean =>
  /[\u0080-\uffff]/.test(request.body ?? '');

/** Fewer requests may have a character outside ASCII by chance. */
const ALIKE_MIN = 3;

/** A smaller body arrives in one piece. */
const PART_BYTES_MIN = 1_024;

/** Returns which requests fail, what to do, and which succeed. */
function explain(
  unread: readonly Exchange[],
  read: readonly Exchange[],
): [subject: string, cure: string, contrast?: string] | undefined {
  const areBeyondAscii = unread.length >= ALIKE_MIN && unread.every(isBeyondAscii);
  if (areBeyondAscii && !read.some(isBeyondAscii)) {
    return [
      'requests with characters outside ASCII get',
      'Content-Length counts bytes: read that many bytes, not characters, and decode them as UTF-8',
    ];
  }
  // A request that times out may wait for a model.
  if (unread.some(({ failure }) => failure)) return undefined;
  const smallest = Math.min(...unread.map(requestBytesOf));
  const largest = Math.max(...read.map(requestBytesOf));
  if (smallest >= PART_BYTES_MIN && largest < smallest) {
    return [
      `bodies of ${formatNumber(smallest)} bytes or more get`,
      'Read the whole body, as long as Content-Length or the chunks say: one read may return only a part of it',
      `; ${formatNumber(largest)} bytes are read`,
    ];
  }
  return [
    'valid JSON gets',
    'Parse all of JSON: any depth of nesting, any escapes, and any numbers',
  ];
}
