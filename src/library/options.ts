/** Options that the functions of the library share, and their schemas. */
import { isIP } from 'node:net';
import * as z from 'zod';
import { isMessage } from '../contract/index.ts';
import { parseBaseUrl, type ParsedBaseUrl } from '../platform/base-url.ts';
import {
  HEADER_NAME,
  isCertificate,
  isHeaderValue,
  isReservedHeader,
  type ClientCertificate,
  type Connection,
} from '../platform/connection.ts';
import type { StopSignal } from '../platform/clock.ts';
import { parseProxy, type ProxySettings } from '../platform/proxy.ts';
import { isObject } from '../platform/json.ts';
import * as options from '../platform/options.ts';
import type { ModelEndpoint } from '../service/index.ts';
import type { SpeechModel } from '../voice/speech/index.ts';
import type { CallTarget } from './call-target.ts';

export type { ModelEndpoint, SpeechModel };

/** Options of every run: the connection, the seed, and the signal. */
export interface RunOptions {
  /** Base URL of the sandbox or service. */
  url: string;
  /** The bearer key of the sandbox, or the key of the service (default: no key). */
  apiKey?: string | undefined;
  /** CA certificates in PEM to trust in addition to the built-in ones. */
  ca?: string | undefined;
  /**
   * Headers of every request and of the voice WebSocket, for example for a gateway. Reports never
   * contain their values.
   */
  headers?: Readonly<Record<string, string>> | undefined;
  /** Client certificate: `cert`, `key`, and the `passphrase` of the key. */
  clientCertificate?: ClientCertificate | undefined;
  /**
   * URLs of the proxies for `https:` and `http:`, and the hosts to reach directly. The library does
   * not read `HTTPS_PROXY`.
   */
  proxies?: ProxySettings | undefined;
  /**
   * Sends `apiKey` and `headers` also over plain HTTP to another machine (default: false, which
   * rejects such a URL).
   */
  allowHttp?: boolean | undefined;
  /** Random seed, from which all ids derive; repeats an earlier run (default: random). */
  seed?: string | undefined;
  /**
   * Stops the run. The promise still resolves: the report covers the run until then, like the report
   * of the command after Ctrl-C.
   */
  signal?: StopSignal | undefined;
}

/** A failing requirement that is accepted. */
export interface KnownFailure {
  /** The id of the requirement, such as `CHAT-024`. */
  id: string;
  /** The reason for accepting the failure. */
  comment: string;
}

// The `error` of each schema completes the message "OPTION must be …".

const BASE_URL = 'a base URL such as http://127.0.0.1:8080';

const readBaseUrl = (text: string): ParsedBaseUrl =>
  parseBaseUrl(text, { expected: BASE_URL, keyHint: 'Pass the key as apiKey.' });

/** A URL to which the paths of the interface are appended. */
export const baseUrlOption = z.string(BASE_URL).superRefine((text, context) => {
  const { problem } = readBaseUrl(text);
  if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
});

/** Returns a valid base URL without trailing slashes. */
export const normalizeBaseUrl = (text: string): string => readBaseUrl(text).url ?? text;

const SEED = '1 to 64 letters, digits, dots, hyphens, or underscores';
const KEY = 'one line of printable ASCII without spaces';
const WEB_SOCKET = 'the URL of a WebSocket, such as ws://127.0.0.1:8080/voice';

export const apiKeyOption = z.string(KEY).regex(/^[\x21-\x7e]+$/, KEY);
export const seedOption = z.string(SEED).regex(/^[A-Za-z0-9_.-]{1,64}$/, SEED);
export const caOption = z.custom(
  (value) => typeof value === 'string' && isCertificate(value),
  'the text of PEM certificates',
);
export const signalOption = z.custom(
  (value) =>
    isObject(value) && 'aborted' in value && typeof value['addEventListener'] === 'function',
  'an AbortSignal',
);

/** Names and values of headers. Messages name the header, and never show its value. */
const headersOption = z
  .custom(
    // `Headers` of the Fetch API have no own properties.
    (value) => isObject(value) && typeof value['forEach'] !== 'function',
    'an object of header names and values',
  )
  .superRefine((headers, context) => {
    for (const [name, value] of Object.entries(headers as Record<string, unknown>)) {
      const isName = HEADER_NAME.test(name);
      const message = isName ? findHeaderProblem(name, value) : describeBadName(name);
      if (message !== undefined) {
        context.addIssue({ code: 'custom', message, path: isName ? [name] : [] });
      }
    }
  });

/** Shows an invalid name only up to its first wrong character: a value may follow. */
function describeBadName(name: string): string {
  const [start = ''] = /^[\w-]{0,50}/.exec(name) ?? [];
  return `must contain only names of HTTP headers, got one that starts with "${start}".`;
}

/** Returns the problem of a header, which follows its place in a message; undefined if it is valid. */
function findHeaderProblem(name: string, value: unknown): string | undefined {
  if (isReservedHeader(name)) return "can't be set, because sandbox-kit sets it.";
  return typeof value === 'string' && isHeaderValue(value)
    ? undefined
    : 'a text of printable ASCII that is not empty';
}

const proxyOption = z.custom(
  (value) => typeof value === 'string' && parseProxy(value) !== undefined,
  'the URL of an HTTP proxy, such as http://proxy.example.com:3128',
);

/** The schemas of the options of every run. */
export const runOptions = {
  url: baseUrlOption,
  apiKey: apiKeyOption,
  ca: caOption,
  headers: headersOption,
  allowHttp: options.booleanOption,
  clientCertificate: options.optionsObject<ClientCertificate>(
    {
      cert: caOption,
      key: options.nonEmptyStringOption,
      passphrase: options.nonEmptyStringOption,
    },
    ['cert', 'key'],
  ),
  proxies: options.optionsObject<ProxySettings>({
    https: proxyOption,
    http: proxyOption,
    noProxy: options.nonEmptyStringOption,
  }),
  seed: seedOption,
  signal: signalOption,
};

/** Returns the settings of the connection, except the URL, the key, and the CA. */
export function connectionOf({
  headers = {},
  clientCertificate,
  proxies,
}: Pick<RunOptions, 'headers' | 'clientCertificate' | 'proxies'>): Connection {
  const byLowercaseName = Object.entries(headers).map(
    ([name, value]) => [name.toLowerCase(), value] as const,
  );
  return { headers: Object.fromEntries(byLowercaseName), clientCertificate, proxies };
}

export const callTargetOption = options.optionsObject<CallTarget>({
  url: z.custom(
    (value) => typeof value === 'string' && /^wss?:\/\/[^@?#]+$/i.test(value),
    WEB_SOCKET,
  ),
  answerType: options.nonEmptyStringOption,
  answerField: options.nonEmptyStringOption,
  mediaAddress: z.custom((value) => typeof value === 'string' && isIP(value) > 0, 'an IP address'),
});

export const knownFailuresOption = z.array(
  options.optionsObject<KnownFailure>(
    { id: options.nonEmptyStringOption, comment: options.nonEmptyStringOption },
    ['id', 'comment'],
  ),
  'an array of {id, comment}',
);

/** Returns the schema of a report of an earlier run. */
export const reportOption = (name: 'CheckReport' | 'LoadReport' | 'SimulationReport'): z.ZodType =>
  z.custom((value) => isMessage(name, value), `a ${name}`);

/** A report of a whole load run: that of one shard has no verdicts to compare with. */
export const wholeLoadReportOption: z.ZodType = z.custom(
  (value) => isMessage('LoadReport', value) && value.shard === undefined,
  'a LoadReport of a whole run; merge those of shards with mergeLoadReports',
);

export const modelOption = options.optionsObject<ModelEndpoint>(
  {
    baseUrl: options.urlOption,
    model: options.nonEmptyStringOption,
    apiKey: options.nonEmptyStringOption,
    timeoutMs: options.integerOption(1, 600_000),
    retriesMax: options.integerOption(0, 100),
  },
  ['baseUrl', 'model'],
);

export const speechOption = options.optionsObject<SpeechModel>(
  {
    baseUrl: options.urlOption,
    model: options.nonEmptyStringOption,
    voice: options.nonEmptyStringOption,
    apiKey: options.nonEmptyStringOption,
  },
  ['baseUrl'],
);

/** Returns the schema of a number above 0 and up to `max`. */
export function positiveNumberOption(max: number): z.ZodType {
  const error = `a number above 0 and at most ${max}`;
  return z.number(error).gt(0, error).max(max, error);
}
