/** The options of every run: the connection, the seed, and the signal. */
import * as z from 'zod';
import { parseBaseUrl, type ParsedBaseUrl } from '../platform/base-url.ts';
import {
  HEADER_NAME,
  isCertificate,
  isHeaderValue,
  isReservedHeader,
  type ClientCertificate,
} from '../platform/connection.ts';
import { isObject } from '../platform/json.ts';
import { nonEmptyStringOption, optionsObject } from '../platform/options.ts';
import { parseProxy, type ProxySettings } from '../platform/proxy.ts';
import type { RunOptions } from './generated/options.ts';
import { apiKey, apiKeyFile, serviceKey } from './keys.ts';
import {
  codeOption,
  fileOption,
  flagOnly,
  fromVariables,
  option,
  requiredCodeOption,
  switchOption,
} from './option.ts';
import * as values from './values.ts';

const BASE_URL = 'a base URL such as http://127.0.0.1:8080';

const readBaseUrl = (text: string): ParsedBaseUrl =>
  parseBaseUrl(text, { expected: BASE_URL, keyHint: 'Pass the key as apiKey.' });

/** Returns a valid base URL without trailing slashes. */
export const normalizeBaseUrl = (text: string): string => readBaseUrl(text).url ?? text;

/** A base URL, which the paths of the interface are appended to. */
const baseUrl = z.string(BASE_URL).superRefine((text, context) => {
  const { problem } = readBaseUrl(text);
  if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
});

const certificates = z.custom(
  (value) => typeof value === 'string' && isCertificate(value),
  'the text of PEM certificates',
);

/** Names and values of headers. Messages name the header, and never show its value. */
const headers = z
  .custom(
    // `Headers` of the Fetch API have no own properties.
    (value) => isObject(value) && typeof value['forEach'] !== 'function',
    'an object of header names and values',
  )
  .superRefine((object, context) => {
    for (const [name, value] of Object.entries(object as Record<string, unknown>)) {
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

const proxy = z.custom(
  (value) => typeof value === 'string' && parseProxy(value) !== undefined,
  'the URL of an HTTP proxy, such as http://proxy.example.com:3128',
);

const clientCertificate = optionsObject<ClientCertificate>(
  { cert: certificates, key: nonEmptyStringOption, passphrase: nonEmptyStringOption },
  ['cert', 'key'],
);

const proxies = optionsObject<ProxySettings>({
  https: proxy,
  http: proxy,
  noProxy: nonEmptyStringOption,
});

const abortSignal = z.custom(
  (value) =>
    isObject(value) && 'aborted' in value && typeof value['addEventListener'] === 'function',
  'an AbortSignal',
);

const sandboxKey = {
  SANDBOX_KIT_API_KEY: 'Bearer key of the sandbox; or use --api-key-file',
};

/** Options of the connection to the sandbox, in the order of the help. */
export const sandboxAccess = {
  apiKey: fromVariables(sandboxKey, { ...apiKey, isShared: true }),
  ...flagOnly({ apiKeyFile: { ...apiKeyFile, isShared: true } }),
  allowHttp: switchOption('Accept plain HTTP to any host, even for the API key and --header-file', {
    isShared: true,
    inCode:
      'Sends `apiKey` and `headers` also over plain HTTP to another machine (default: false, which rejects such a URL).',
  }),
  headers: fileOption('Send the headers in this file, one Name: value per line', {
    flag: 'header-file',
    isShared: true,
    inCode: {
      schema: headers,
      type: 'Readonly<Record<string, string>>',
      about:
        'Headers of every request and of the voice WebSocket, for example for a gateway. Reports never contain their values.',
    },
  }),
  ca: fileOption('Trust the CA certificates in this PEM file', {
    isShared: true,
    inCode: {
      schema: certificates,
      type: 'string',
      about: 'CA certificates in PEM to trust in addition to the built-in ones.',
    },
  }),
  clientCertificate: codeOption({
    schema: clientCertificate,
    type: 'ClientCertificate',
    about: 'Client certificate: `cert`, `key`, and the `passphrase` of the key.',
  }),
  ...flagOnly({
    cert: option(values.filePath, 'FILE', 'Client certificate (PEM)', { isShared: true }),
    key: option(values.filePath, 'FILE', 'Private key of --cert (PEM)', { isShared: true }),
    keyPassphraseFile: option(values.filePath, 'FILE', 'Read the passphrase of --key from a file', {
      isShared: true,
      variables: { SANDBOX_KIT_KEY_PASSPHRASE: 'Passphrase of --key' },
    }),
  }),
  proxies: fromVariables(
    { HTTPS_PROXY: 'Proxy for https: URLs; HTTP_PROXY for http:, NO_PROXY for exceptions' },
    codeOption({
      schema: proxies,
      type: 'ProxySettings',
      about:
        'URLs of the proxies for `https:` and `http:`, and the hosts to reach directly. The library does not read `HTTPS_PROXY`.',
    }),
  ),
};

/** Options of the connection to a sandbox or a service. */
export const targetAccess = {
  ...sandboxAccess,
  apiKey: fromVariables({ ...sandboxKey, ...serviceKey }, sandboxAccess.apiKey),
};

/** The seed of a run, which the report states. */
export const runSeed = option(
  values.seed,
  'SEED',
  'Random seed; repeats the ids of an earlier run',
  {
    default: 'random',
    isShared: true,
    inCode: 'Random seed of all ids; repeats an earlier run (default: random).',
  },
);

/** The base URL; a command takes it as an argument. */
export const url = requiredCodeOption({
  schema: baseUrl,
  type: 'string',
  about: 'Base URL of the sandbox or service.',
});

/** The signal that stops a run. */
export const signal = codeOption({
  schema: abortSignal,
  type: 'StopSignal',
  about:
    'Stops the run. The promise still resolves: the report covers the run until then, like the report of the command after Ctrl-C.',
});

/**
 * The options of a run that an engine gets in other forms: the target, a connection, a seed, and a
 * signal.
 */
export type RunOptionOfLibrary = Exclude<keyof RunOptions, 'apiKey' | 'ca' | 'allowHttp'>;

/** The options of every run. */
export const runOptions = { url, ...sandboxAccess, seed: runSeed, signal };
