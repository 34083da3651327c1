import { formatValue } from '../../../src/contract/index.ts';
import { unescapeHtml } from '../transcript/html-page.ts';
import { decodePathSegment, type Exchange } from '../transcript/reading.ts';
import type { Finding } from './check.ts';
import { countCommonStart } from './common-start.ts';

/** The longest common start of two long values to show in full. */
const COMMON_MAX = 40;
/** How much of a longer common start is shown. */
const CONTEXT = 12;

/**
 * Describes a value that differs from the one that it should repeat, from where they differ. `source` is
 * the exchange that sent the received value; undefined if none did.
 */
export function describeEcho(
  sent: unknown,
  received: unknown,
  name: string,
  source?: Exchange,
): Pick<Finding, 'expected' | 'received' | 'hint'> {
  const isText = typeof sent === 'string' && typeof received === 'string';
  const change = hintForChange(sent, received, name);
  const isForeign = isText && change === undefined && source !== undefined;
  const hint = isText ? (change ?? hintForOther(name, isForeign)) : change;
  const [expected, actual] = [sent, received].map((value) => formatValue(value));
  const common = isText && expected === actual ? countCommonStart(sent, received) : 0;
  const from = common > COMMON_MAX ? common - CONTEXT : 0;
  const formatRest = (value: unknown): string =>
    from === 0 ? formatValue(value) : `...${formatValue(String(value).slice(from)).slice(1)}`;
  return {
    expected: formatRest(sent),
    received: `${formatRest(received)}${isForeign ? `, which exchange ${source.id} sent` : ''}`,
    ...(hint !== undefined && { hint }),
  };
}

/** Returns what to do about an id that has nothing in common with the one of its request. */
const hintForOther = (name: string, isForeign: boolean): string =>
  isForeign
    ? `Look for a variable that requests share: this is the ${name} of another request.`
    : `Echo the ${name} of this request: don't generate one or share it between requests.`;

/** What may happen to an id on its way, and what to do about it. */
const changes: readonly (readonly [change: (id: string) => string, cure: string])[] = [
  [(id) => id.trim(), 'with the space around it'],
  [(id) => decodeUrl(id), "unchanged: don't URL-decode it"],
  [(id) => decodeUrl(id.replaceAll('+', ' ')), "unchanged: don't URL-decode it"],
  [encodeUrl, "unchanged: don't URL-encode it"],
  [(id) => id.replaceAll(/['"\\]/g, '\\$&'), "unchanged: don't put backslashes before quotes"],
  [(id) => Buffer.from(id).toString('latin1'), 'as UTF-8: it was encoded twice'],
  [(id) => id.normalize('NFC'), "unchanged: don't normalize it"],
  [(id) => id.normalize('NFD'), "unchanged: don't normalize it"],
  [(id) => id.replaceAll(/[^\x20-\x7e]/g, ''), 'with all of its characters'],
  [(id) => id.replaceAll(/\p{Cc}/gu, ''), 'with all of its characters'],
  [(id) => id.toLowerCase(), 'without changing uppercase or lowercase'],
  [(id) => id.toUpperCase(), 'without changing uppercase or lowercase'],
];

/** Half of a surrogate pair has no encoding: such an id stays as it is. */
function encodeUrl(id: string): string {
  return id.isWellFormed() ? encodeURIComponent(id) : id;
}

const decodeUrl = (id: string): string => decodePathSegment(id) ?? id;

/** Returns whether characters outside ASCII became question marks or replacement characters, one or several each. */
function isReplaced(sent: string, received: string): boolean {
  const countReplacements = (text: string): number => text.match(/[?\ufffd]/g)?.length ?? 0;
  // A server may escape some of them, so that they survive.
  const shape = (text: string): string => text.replaceAll(/(?:[\u0080-\uffff]|\?)+/g, '?');
  return countReplacements(received) > countReplacements(sent) && shape(received) === shape(sent);
}

/** Returns whether a text contains another one; a single character counts only at an end. */
const isPart = (part: string, whole: string): boolean =>
  part.length > 1 ? whole.includes(part) : whole.startsWith(part) || whole.endsWith(part);

/** Returns what to do about an id that was changed on its way; undefined if it is another one. */
function hintForChange(sent: unknown, received: unknown, name: string): string | undefined {
  if (typeof sent !== 'string' || received === undefined || received === null) return undefined;
  if (typeof received !== 'string') return `Send the ${name} as a string, as in the request.`;
  const change = changes.find(([apply]) => apply(sent) === received);
  if (change) return `Echo the ${name} ${change[1]}.`;
  if (unescapeHtml(received) === sent)
    return `Echo the ${name} unchanged: don't escape it as HTML.`;
  if (isReplaced(sent, received)) {
    return `Echo the ${name} as UTF-8: characters outside ASCII were replaced. Decode requests and encode responses as UTF-8, not in the default charset.`;
  }
  if (received.length > 1 && sent.startsWith(received)) {
    return `Echo the whole ${name}: it was cut after ${Array.from(received).length} characters.`;
  }
  if (isPart(received, sent) || isPart(sent, received)) {
    return `Echo the whole ${name}, without a prefix or suffix.`;
  }
  return undefined;
}
