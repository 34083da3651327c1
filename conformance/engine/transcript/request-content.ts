import type { ExchangeRecord } from '../../../src/contract/index.ts';
import { isObject, parseJson } from '../../../src/platform/json.ts';
import { toPrintable } from './reading.ts';

const CONTENT_LENGTH_MAX = 48;

/**
 * Describes what a request contains, or how far a call came, so that a person recognizes it: `message
 * "Hello"`. Empty for a request without a body.
 */
export function describeContent({ endpoint, request, call }: ExchangeRecord): string {
  if (call) {
    const last = call.events.findLast(({ from, kind }) => from === 'kit' && kind === 'message');
    const type = readField(last?.text, 'type');
    return typeof type === 'string' ? `last message ${quote(type)}` : 'no message was sent';
  }
  const { body = '' } = request;
  if (body === '') return '';
  const messages = endpoint === 'chat' ? readField(body, 'messages') : undefined;
  const last: unknown = Array.isArray(messages) ? messages.at(-1) : undefined;
  const content = isObject(last) ? last['content'] : undefined;
  return typeof content === 'string'
    ? `message ${quote(content)}`
    : `body ${toPrintable(body, CONTENT_LENGTH_MAX)}`;
}

function readField(text: string | undefined, name: string): unknown {
  const value = parseJson(text ?? '');
  return isObject(value) ? value[name] : undefined;
}

const quote = (text: string): string => JSON.stringify(toPrintable(text, CONTENT_LENGTH_MAX));
