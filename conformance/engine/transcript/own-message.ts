import { resolvePointer } from '../../../src/contract/index.ts';
import { isObject } from '../../../src/platform/json.ts';
import { findHtmlPage } from './html-page.ts';
import { isAccepted, isAcceptedError, toPrintable, type Exchange } from './reading.ts';

/** Where frameworks put the message of an error, the most specific place first. */
const MESSAGE_PLACES = [
  '/error/message',
  '/error/detail',
  '/message',
  '/detail',
  '/detail/message',
  '/error_description',
  '/error',
  '/errors/0/message',
  '/errors/0/msg',
  '/errors/0/detail',
  '/errors/0',
  '/errors',
  '/msg',
  '/reason',
  '/title',
];

/** Lengths of a quotation in a sentence, and of the message on a separate line. */
const QUOTED_LENGTH_MAX = 160;
const WHOLE_LENGTH_MAX = 2_000;

/** Returns the message of a peer as `findOwnMessage`, but long enough to show all that usual peers say. */
export const findWholeMessage = (exchange: Exchange): string | undefined =>
  findOwnMessage(exchange, WHOLE_LENGTH_MAX);

/**
 * Returns what a peer itself says about an error, in one line: the message of the body, the title of a
 * page, or the text. Undefined if the response is not an error, or says nothing.
 */
export function findOwnMessage(
  exchange: Exchange,
  lengthMax = QUOTED_LENGTH_MAX,
): string | undefined {
  const { response, json } = exchange;
  if (!response) return undefined;
  const page = findHtmlPage(exchange);
  if (page) return page.quote;
  if (isAccepted(exchange) && !isAcceptedError(exchange)) return undefined;
  const text = isObject(json)
    ? findMessageIn(json)
    : json === undefined
      ? response.body
      : undefined;
  const line = toPrintable(text ?? '', lengthMax);
  return line === '' ? undefined : line;
}

function findMessageIn(json: object): string | undefined {
  // FastAPI and Pydantic list what is invalid and where.
  const first: unknown = resolvePointer(json, '/detail/0');
  if (isObject(first) && typeof first['msg'] === 'string') {
    const place = Array.isArray(first['loc']) ? `${first['loc'].join('.')}: ` : '';
    return `${place}${first['msg']}`;
  }
  return MESSAGE_PLACES.map((place) => resolvePointer(json, place)).find(
    (value) => typeof value === 'string' && value !== '',
  ) as string | undefined;
}
