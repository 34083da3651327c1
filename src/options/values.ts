/**
 * The values that options and arguments take. The description of each completes "--option must be …",
 * and its error completes "OPTION must be …" about a value in code.
 */
import { BlockList, isIP, isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';
import * as z from 'zod';
import type { Area } from '../contract/index.ts';
import { DAY_MS } from '../platform/clock.ts';
import { parseBaseUrl, quoteUrl } from '../platform/base-url.ts';
import { HEADER_NAME } from '../platform/connection.ts';
import {
  arrayOption,
  integerOption,
  nonEmptyStringOption,
  portOption,
  urlOption,
} from '../platform/options.ts';
import { didYouMean } from '../platform/suggest.ts';
import { writtenAs } from './code-form.ts';

const KEY_HINT = 'Set the key in SANDBOX_KIT_API_KEY.';

/** An http or https URL without query and fragment. Trailing slashes are removed. */
function baseUrl(description: string, keyHint = KEY_HINT) {
  return z
    .string()
    .transform((text, context) => {
      const { url, problem } = parseBaseUrl(text, { expected: description, keyHint });
      if (url !== undefined) return url;
      context.addIssue({ code: 'custom', message: problem });
      return z.NEVER;
    })
    .describe(description);
}

/** The base URL of a sandbox. */
export const sandboxUrl = baseUrl('the base URL of a sandbox, such as https://sandbox.example.com');

/** The base URL of a service. */
export const serviceUrl = baseUrl('the base URL of a service, such as http://127.0.0.1:9090');

/** The base URL of the pages that deep links open. */
export const pagesUrl = writtenAs(
  baseUrl(
    'a base URL for deep links, such as https://app.example.com',
    'Remove them: everyone who gets a link could read them.',
  ),
  { schema: urlOption, type: 'string' },
);

/** A text in code that a predicate accepts. */
function stringForm(
  isValid: (text: string) => boolean,
  expected: string,
): { schema: z.ZodType; type: string } {
  const schema = z.custom((value) => typeof value === 'string' && isValid(value), expected);
  return { schema, type: 'string' };
}

/** A text that a predicate accepts. */
export function textMatching(
  isValid: (text: string) => boolean,
  description: string,
  quote: (text: string) => string = JSON.stringify,
) {
  return z
    .string()
    .refine(isValid, {
      abort: true,
      error: ({ input }) => `must be ${description}, got ${quote(String(input))}.`,
    })
    .describe(description);
}

const WEB_SOCKET_URL = /^wss?:\/\/[^@?#]+$/i;

/** The URL of a voice WebSocket. */
export const webSocketUrl = writtenAs(
  textMatching(
    (text) => WEB_SOCKET_URL.test(text) && URL.canParse(text),
    'the URL of a WebSocket, such as wss://sandbox.example.com/voice',
    quoteUrl,
  ),
  stringForm(
    (text) => WEB_SOCKET_URL.test(text),
    'the URL of a WebSocket, such as ws://127.0.0.1:8080/voice',
  ),
);

/** A whole number between two bounds, both included. */
export function wholeNumber(min: number, max: number) {
  return integerOption(min, max).describe(`a whole number from ${min} to ${max}`);
}

/** A number above 0 and up to `max`. */
export function positiveNumber(max = Infinity) {
  const expected = `a number above 0${max === Infinity ? '' : ` and at most ${max}`}`;
  return z.number(expected).gt(0, expected).max(max, expected).describe(expected);
}

const PERCENTILE = 'a percentile from 50 to 99.9';

/** A percentile of latencies. */
export const percentile = z
  .number(PERCENTILE)
  .min(50, PERCENTILE)
  .max(99.9, PERCENTILE)
  .describe(PERCENTILE);

/** One of these words. */
export function oneOf<const Words extends readonly [string, ...string[]]>(words: Words) {
  const expected = `one of ${words.join(', ')}`;
  return z.enum(words, expected).describe(expected);
}

/** A port to listen on; 0 selects a free one. */
export const port = wholeNumber(0, 65_535);

/** A path that is not empty. A URL is not a path, although a file could have its name. */
export const filePath = z
  .string()
  .min(1)
  .refine((text) => !/^[a-z][\w+.-]+:\/\//i.test(text), {
    error: ({ input }) => `must be a path, got ${JSON.stringify(input)}.`,
  })
  .describe('a path');

/** Text that is not empty. */
export const text = nonEmptyStringOption.describe('a text that is not empty');

const SEED = '1 to 64 letters, digits, dots, hyphens, or underscores';

/** A random seed. It is short because ids contain it. */
export const seed = z
  .string(SEED)
  .regex(/^[A-Za-z0-9_.-]{1,64}$/, SEED)
  .describe(SEED);

/** The name of an HTTP header. */
export const headerName = writtenAs(
  z.string().regex(HEADER_NAME).describe('the name of an HTTP header'),
  { schema: nonEmptyStringOption, type: 'string' },
);

const logLevels = ['silent', 'error', 'warn', 'info'] as const;

/** How much is logged to stderr. */
export const logLevel = oneOf(logLevels);

/** The log levels, as the help lists them. */
export const LOG_LEVELS = logLevels.join(', ');

const durationUnitsMs: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** The longest drain of a service that stops. */
const DRAIN_MS_MAX = 600_000;

/** A duration such as 60s or 5m, up to 24 h. The value is in milliseconds. */
export const duration = (minMs: 0 | 1_000) => durationUpTo(DAY_MS, '24h', minMs);

/** How long a service that stops keeps serving. The value is in milliseconds. */
export const drain = durationUpTo(DRAIN_MS_MAX, '10m');

function durationUpTo(maxMs: number, maxText: string, minMs: 0 | 1_000 = 0) {
  const description = `a duration such as 60s or 5m, from ${minMs / 1_000}s to ${maxText}`;
  const written = z
    .string()
    .transform((value, context) => {
      const [, number, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(value) ?? [];
      // A hint takes a number without a unit as seconds.
      const ms = Math.round(Number(number) * (durationUnitsMs[unit ?? 's'] ?? NaN));
      const isInRange = ms >= minMs && ms <= maxMs;
      if (isInRange && unit !== undefined) return ms;
      const hint = isInRange ? ` Did you mean ${value}s?` : '';
      const message = `must be ${description}, got ${JSON.stringify(value)}.${hint}`;
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    })
    .describe(description);
  return writtenAs(written, { schema: integerOption(minMs, maxMs), type: 'number' });
}

const RETENTION = 'a number of days such as 30d, from 2d to 36500d';

const writtenRetention = z
  .string()
  .transform((value, context) => {
    const [, days] = /^(\d{1,5})d$/.exec(value) ?? [];
    const count = Number(days ?? NaN);
    if (count >= 2 && count <= 36_500) return count * DAY_MS;
    const [, number = '', unit] = /^(\d{1,6})(h?)$/.exec(value) ?? [];
    const meantDays = unit === 'h' ? Number(number) / 24 : Number(number);
    const isDays = Number.isInteger(meantDays) && meantDays >= 2 && meantDays <= 36_500;
    const hint = isDays ? ` Did you mean ${meantDays}d?` : '';
    const message = `must be ${RETENTION}, got ${JSON.stringify(value)}.${hint}`;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  })
  .describe(RETENTION);

/** How long data is kept. The value is in milliseconds. */
export const retention = writtenAs(writtenRetention, {
  schema: integerOption(2 * DAY_MS, Number.MAX_SAFE_INTEGER),
  type: 'number',
});

const sandboxAreas = ['chat', 'health', 'users', 'voice'] as const;
const targets = [...sandboxAreas, 'service'] as const;

const namesOf = (value: string | string[]): string[] =>
  [value].flat().flatMap((names) => names.split(',').map((name) => name.trim()));

const offered = new WeakMap<z.ZodType, readonly string[]>();

/** The words that a schema accepts, for shell completion. Needed if it is not an enumeration. */
function offer<Schema extends z.ZodType>(choices: readonly string[], schema: Schema): Schema {
  offered.set(schema, choices);
  return schema;
}

/** Returns the words that a schema of this file accepts. */
export const choicesOf = (schema: z.ZodType): readonly string[] | undefined => offered.get(schema);

/** Areas such as `chat,users`. The option can be repeated. */
function areasOf(known: readonly Area[], description: string) {
  return z
    .union([z.string(), z.array(z.string())])
    .transform((value, context): Area[] => {
      const names = namesOf(value);
      const unknown = names.find((name) => !known.some((area) => area === name));
      if (unknown === undefined) return known.filter((area) => names.includes(area));
      const message = `must be ${description}, got ${JSON.stringify(unknown)}. ${didYouMean(unknown, known, '')}`;
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    })
    .describe(description);
}

/** All areas: those of a sandbox, the service, and a client of the service. */
export const anyAreas = offer(
  [...sandboxAreas, 'service', 'client'],
  areasOf(
    [...sandboxAreas, 'service', 'client'],
    'a list of chat, health, users, voice, service, client',
  ),
);

const AREAS = 'an array of chat, health, users, and voice, or only service';

const isOneTarget = (areas: readonly Area[]): boolean =>
  areas.length === 1 || !areas.includes('service');

const SEVERAL_TARGETS =
  "can't combine service with other areas: the service and a sandbox are different servers.";

/** Areas of a sandbox, or `service` alone. */
export const targetAreas = writtenAs(
  offer(
    targets,
    areasOf(targets, 'a list of chat, health, users, voice, or only service').refine(isOneTarget, {
      error: SEVERAL_TARGETS,
    }),
  ),
  {
    schema: z
      .array(z.enum(targets, `one of ${targets.join(', ')}`), AREAS)
      .min(1, AREAS)
      .refine(isOneTarget, SEVERAL_TARGETS),
    type: 'readonly Area[]',
  },
);

/** Maximum number of ids in an option. */
const REQUIREMENTS_MAX = 1_000;

/** Ids of requirements such as `CHAT-024,USERS-*`. The option can be repeated. */
export const requirementPatterns = writtenAs(
  z
    .union([z.string(), z.array(z.string())])
    .transform((value, context): string[] => {
      const patterns = namesOf(value);
      const isValid = (pattern: string): boolean =>
        /^[A-Za-z0-9*][A-Za-z0-9*-]{0,99}$/.test(pattern);
      const wrong = patterns.find((pattern) => !isValid(pattern));
      if (wrong === undefined && patterns.length <= REQUIREMENTS_MAX) return patterns;
      const received = wrong === undefined ? `${patterns.length} ids` : JSON.stringify(wrong);
      const message = `must be a list of requirements such as CHAT-024,USERS-*, got ${received}.`;
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    })
    .describe('a list of requirements such as CHAT-024,USERS-*'),
  {
    schema: z
      .array(nonEmptyStringOption, 'an array of requirements')
      .min(1, 'an array of at least one requirement')
      .max(REQUIREMENTS_MAX, `an array of at most ${REQUIREMENTS_MAX} requirements`),
    type: 'readonly string[]',
  },
);

const isIpAddress = (text: string): boolean => isIP(text) > 0;

/** An IP address. */
export const ipAddress = textMatching(isIpAddress, 'an IP address');

/** A host name or an IP address to listen on. */
export const hostName = writtenAs(
  textMatching(
    (text) => isIpAddress(text) || (/^[^\s/?#@:\\]+$/.test(text) && URL.canParse(`http://${text}`)),
    'a host name or an IP address',
  ),
  { schema: nonEmptyStringOption, type: 'string' },
);

/** A range of UDP ports such as 40000-40400, both included. */
export const portRange = writtenAs(
  z
    .string()
    .transform((value, context): readonly [number, number] => {
      const [, from = 0, to = 0] = (/^(\d{1,5})-(\d{1,5})$/.exec(value) ?? []).map(Number);
      if (from > 0 && from <= to && to <= 65_535) return [from, to];
      const message = `must be a port range such as 40000-40400, got ${JSON.stringify(value)}.`;
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    })
    .describe('a port range such as 40000-40400'),
  { schema: arrayOption(portOption), type: 'readonly [number, number]' },
);

/** How many local addresses an error message lists. */
const LISTED_ADDRESSES_MAX = 6;

const writtenLocalAddress = ipAddress.superRefine((address, context) => {
  const local = localAddresses();
  if (isListed(address, local)) return;
  const listed = local.slice(0, LISTED_ADDRESSES_MAX).join(', ');
  const rest = local.length - LISTED_ADDRESSES_MAX;
  const message = `must be an address of this machine (${listed}${rest > 0 ? `, and ${rest} more` : ''}), got ${JSON.stringify(address)}.`;
  context.addIssue({ code: 'custom', message });
});

/** An IP address of this machine: media can be sent and received only there. */
export const localAddress = writtenAs(
  writtenLocalAddress,
  stringForm(isIpAddress, 'an IP address'),
);

/** Returns the addresses of this machine without their zones, link-local ones last. */
function localAddresses(): string[] {
  const all = Object.values(networkInterfaces())
    .flatMap((interfaces) => interfaces ?? [])
    .map(({ address }) => address.replace(/%.*$/, ''));
  const isLinkLocal = (address: string): boolean => /^fe80:/i.test(address);
  return [...new Set(all)].sort((a, b) => Number(isLinkLocal(a)) - Number(isLinkLocal(b)));
}

function isListed(address: string, addresses: readonly string[]): boolean {
  const list = new BlockList();
  list.addSubnet('127.0.0.0', 8);
  for (const each of addresses) list.addAddress(each, familyOf(each));
  return list.check(address.replace(/%.*$/, ''), familyOf(address));
}

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIPv6(address) ? 'ipv6' : 'ipv4');
