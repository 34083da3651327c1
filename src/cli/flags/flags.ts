import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { z } from 'zod';
import type { Area } from '../../contract/index.ts';
import { checkedKey, readEnvironment } from './environment.ts';
import { readTextFile } from '../input/files.ts';
import { UsageError } from './usage-error.ts';

/**
 * Holds the flags of a verb against its schema.
 *
 * @throws {UsageError} with one sentence about the first flag that is wrong.
 */
export function parseFlags<Shape extends z.ZodType>(shape: Shape, argv: unknown): z.infer<Shape> {
  const parsed = shape.safeParse(argv);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const [first, ...within] = issue?.path ?? [];
  const name = String(first ?? '');
  const flag = ['url', 'id', 'name', 'recording', 'file'].includes(name)
    ? name.toUpperCase()
    : `--${name}`;
  if (within.length === 0 && isRepeated(argv, name)) {
    throw new UsageError(`${flag}: expected once, got more than one.`);
  }
  throw new UsageError(`${flag}: ${issue?.message ?? 'is wrong'}.`);
}

const isRepeated = (argv: unknown, name: string): boolean =>
  Object.entries(argv ?? {}).some(([key, value]) => key === name && Array.isArray(value));

/** What is said where there is no address, or none of a sandbox. */
export const NO_URL = 'expected the address of a sandbox such as https://sandbox.example.com';

/** A base URL: http or https, without query and fragment; `expected` says of what. */
const baseUrl = (expected: string) =>
  z.string({ error: expected }).transform((text, context) => {
    const url = URL.parse(text);
    const complain = (message: string): never => {
      context.addIssue({ code: 'custom', message: `${message}, got ${JSON.stringify(text)}` });
      return z.NEVER;
    };
    if (!url || !/^https?:\/\//i.test(text)) {
      // `localhost:8080` and `sandbox.example.com` lack nothing but the scheme.
      const meant = /^[\w.-]+(:\d+)?(\/.*)?$/.test(text) ? `; did you mean http://${text}` : '';
      return complain(`${expected}${meant}`);
    }
    if (url.username !== '' || url.password !== '') {
      context.addIssue({
        code: 'custom',
        message:
          'expected an address without user and password: give the key in SANDBOX_KIT_API_KEY',
      });
      return z.NEVER;
    }
    if (url.search !== '' || url.hash !== '') {
      return complain('expected a base address without ? and #, paths are appended to it');
    }
    return url.href.replace(/\/+$/, '');
  });

/** The base URL of a sandbox. */
export const sandboxUrl = baseUrl(NO_URL);

/** The base URL of a service. */
export const serviceUrl = baseUrl(
  'expected the address of a service such as http://127.0.0.1:9090',
);

/** The base URL of the pages that deep links lead to. */
export const pagesUrl = baseUrl(
  'expected the address of the pages that links lead to, such as https://app.example.com',
);

/** A whole number between two bounds. */
export function wholeNumber(min: number, max: number): z.ZodType<number> {
  const error = (issue: { input?: unknown }): string =>
    `expected a whole number from ${min} to ${max}${gotNumber(issue.input)}`;
  return z.number({ error }).int({ error }).min(min, { error }).max(max, { error });
}

/** A number above 0, whole or not. */
export const positive: z.ZodType<number> = z
  .number({ error: 'expected a number above 0' })
  .gt(0, { error: ({ input }) => `expected a number above 0${gotNumber(input)}` });

/** What is not a number at all has become NaN, and is no more known. */
const gotNumber = (input: unknown): string =>
  Number.isFinite(input) ? `, got ${Number(input)}` : '';

/** An IP address of this machine. */
export const ipAddress = z
  .string({ error: 'expected an IP address' })
  .refine((text) => isIP(text) > 0, {
    error: ({ input }) => `expected an IP address, got ${JSON.stringify(input)}`,
  });

/** A range of ports such as 40000-40400, both included. */
export const portRange = z
  .string({ error: 'expected ports such as 40000-40400' })
  .transform((text, context): readonly [number, number] => {
    const [, from = 0, to = 0] = (/^(\d{1,5})-(\d{1,5})$/.exec(text) ?? []).map(Number);
    if (from > 0 && from <= to && to <= 65_535) return [from, to];
    const message = `expected ports such as 40000-40400, got ${JSON.stringify(text)}`;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  });

/** A path, not empty. */
export const filePath = z.string({ error: 'expected a path' }).min(1, 'expected a path, got ""');

/** Some text, not empty. */
export const word = z.string({ error: 'expected a word' }).min(1, 'expected a word, got ""');

/** Seeds: short words, since ids are made from them. */
export const seed = z
  .string({ error: 'expected a seed' })
  .regex(/^[A-Za-z0-9_.-]{1,64}$/, 'expected 1 to 64 letters, digits, dots, hyphens, underscores');

const areaNames = ['chat', 'health', 'users', 'voice'] as const;
const everyAreaName = [...areaNames, 'service'] as const;

/** Some of these names, as `chat,users`, also repeated. */
const someOf = <Name extends string>(known: readonly Name[]): z.ZodType<Name[]> =>
  z
    .union([z.string(), z.array(z.string())], { error: `expected ${known.join(', ')}` })
    .transform((given, context) => {
      const names = [given].flat().flatMap((text) => text.split(','));
      const wrong = names.find((name) => !known.some((area) => area === name));
      if (wrong !== undefined) {
        const message = `expected some of ${known.join(', ')}, got ${JSON.stringify(wrong)}`;
        context.addIssue({ code: 'custom', message });
        return z.NEVER;
      }
      return known.filter((area) => names.includes(area));
    });

/** Areas of a sandbox. */
export const areas = someOf(areaNames);

/** Areas of a sandbox, and that of the service. */
export const everyArea = someOf(everyAreaName);

/** The areas of a check: those of a sandbox, or `service` alone, which is another server. */
export const checkedAreas = z
  .union([z.string(), z.array(z.string())], {
    error: 'expected chat, health, users, voice, or service',
  })
  .transform((given, context): Area[] => {
    const names = [given].flat().flatMap((text) => text.split(','));
    if (names.every((name) => name === 'service')) return ['service'];
    if (names.includes('service')) {
      const message = 'expected service alone: it is another server than a sandbox';
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    }
    const parsed = areas.safeParse(given);
    if (parsed.success) return parsed.data;
    const message = (parsed.error.issues[0]?.message ?? '').replace('voice,', 'voice, or service,');
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  });

/** The sandbox's key: from the file that `--api-key-file` names, else from the environment. */
export function sandboxKey(apiKeyFile: string | undefined): string | undefined {
  return keyFrom(apiKeyFile, 'SANDBOX_KIT_API_KEY');
}

/** The service's key, likewise. */
export function serviceKey(apiKeyFile: string | undefined): string | undefined {
  return keyFrom(apiKeyFile, 'SANDBOX_KIT_SERVICE_API_KEY');
}

/** The header of the service's key, unless `--api-key-header` renames it. */

/** The key of what is checked, the service or a sandbox, and the header that carries it. */
export function keysOf(given: {
  area?: readonly Area[] | undefined;
  'api-key-file'?: string | undefined;
  'api-key-header': string;
}): { apiKey: string | undefined; apiKeyHeader?: string } {
  const file = given['api-key-file'];
  if (!given.area?.includes('service')) return { apiKey: sandboxKey(file) };
  return { apiKey: serviceKey(file), apiKeyHeader: given['api-key-header'].toLowerCase() };
}

function keyFrom(
  apiKeyFile: string | undefined,
  variable: 'SANDBOX_KIT_API_KEY' | 'SANDBOX_KIT_SERVICE_API_KEY',
): string | undefined {
  if (apiKeyFile !== undefined) {
    const key = readTextFile(apiKeyFile, '--api-key-file').trim();
    if (key === '') throw new UsageError(`--api-key-file: ${apiKeyFile} is empty.`);
    return checkedKey(key, `--api-key-file ${apiKeyFile}`);
  }
  const key = readEnvironment()[variable];
  return key === undefined ? undefined : checkedKey(key, variable);
}

/** A CA as PEM, from the file that `--ca` names. */
export function caPem(path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  const pem = readTextFile(path, '--ca');
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----/gs);
  if (!blocks) throw new UsageError(`--ca: ${path} holds no PEM certificate.`);
  for (const block of blocks) {
    if (!isCertificate(block)) {
      throw new UsageError(`--ca: ${path} holds a PEM certificate that can't be read.`);
    }
  }
  return pem;
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}

const levels = ['silent', 'error', 'warn', 'info'] as const;

/** How much is logged, as the help says it. */
export const LOG_LEVELS = levels.join(', ');

/** How much is logged. */
export const logLevel = z.enum(levels, { error: `expected one of ${LOG_LEVELS}` });

/** The name of an HTTP header. */
export const headerName = z
  .string({ error: 'expected one name' })
  .regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/, 'expected the name of an HTTP header');
