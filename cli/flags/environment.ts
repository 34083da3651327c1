import * as z from 'zod';
import type { Area } from '../../src/contract/index.ts';
import { quoteUrl } from '../../src/platform/base-url.ts';
import { isCertificate } from '../../src/platform/connection.ts';
import type { ProxySettings } from '../../src/platform/proxy.ts';
import type { ModelEndpoint } from '../../src/service/index.ts';
import type { SpeechModel } from '../../src/voice/speech/index.ts';
import { UsageError } from '../errors.ts';
import { readTextFile } from '../input/files.ts';
import type { CommandProcess, Variables } from '../process.ts';

const variable = z.string().trim().min(1).optional().catch(undefined);

const environment = z.object({
  SANDBOX_KIT_API_KEY: variable,
  SANDBOX_KIT_SERVICE_API_KEY: variable,
  // Without it, the data would be deleted when the service stops, so an empty one is an error.
  SANDBOX_KIT_DATABASE_URL: z.string().trim().optional(),
  SANDBOX_KIT_JUDGE_URL: variable,
  SANDBOX_KIT_JUDGE_MODEL: variable,
  SANDBOX_KIT_JUDGE_API_KEY: variable,
  SANDBOX_KIT_USER_URL: variable,
  SANDBOX_KIT_USER_MODEL: variable,
  SANDBOX_KIT_USER_API_KEY: variable,
  SANDBOX_KIT_SPEECH_URL: variable,
  SANDBOX_KIT_SPEECH_MODEL: variable,
  SANDBOX_KIT_SPEECH_VOICE: variable,
  SANDBOX_KIT_SPEECH_API_KEY: variable,
  SANDBOX_KIT_KEY_PASSPHRASE: variable,
  https_proxy: variable,
  HTTPS_PROXY: variable,
  http_proxy: variable,
  HTTP_PROXY: variable,
  no_proxy: variable,
  NO_PROXY: variable,
  NO_COLOR: z.string().optional(),
  TERM: z.string().optional(),
});

/** The environment variables of sandbox-kit. */
export type Environment = z.infer<typeof environment>;

/** Reads the environment variables. An empty variable counts as unset, except for the database. */
export function readEnvironment(env: Variables): Environment {
  return environment.parse(env);
}

/** Returns an environment variable that a configuration file refers to. An empty one counts as unset. */
export function readVariable(name: string, env: Variables): string | undefined {
  return variable.parse(env[name]);
}

/** The options that set a key. */
export interface KeyFlags {
  apiKey?: string | undefined;
  apiKeyFile?: string | undefined;
}

/** Returns the sandbox's key from the file or the option, or else from SANDBOX_KIT_API_KEY. */
export function readSandboxKey(flags: KeyFlags, env: Variables): string | undefined {
  return readKey(flags, 'SANDBOX_KIT_API_KEY', env);
}

/** Returns the service's key from the file or the option, or else from SANDBOX_KIT_SERVICE_API_KEY. */
export function readServiceKey(flags: KeyFlags, env: Variables): string | undefined {
  return readKey(flags, 'SANDBOX_KIT_SERVICE_API_KEY', env);
}

/** Returns where the service's key comes from, for messages about it. */
export function describeServiceKey({ apiKey: configured, apiKeyFile: file }: KeyFlags): string {
  if (configured !== undefined) return 'The key in apiKey';
  if (file !== undefined) return `The key in ${file} (--api-key-file)`;
  return 'The key in SANDBOX_KIT_SERVICE_API_KEY';
}

/**
 * Returns the URL of the service's database from the option, or else from SANDBOX_KIT_DATABASE_URL,
 * unless the service has a data directory. Hides the option, which can contain a password, from the list
 * of processes.
 *
 * @throws {UsageError} if the options set both, or the variable is empty.
 */
export function readDatabaseUrl(
  flags: { dataDir?: string | undefined; databaseUrl?: string | undefined },
  process: CommandProcess,
): string | undefined {
  // On Linux and macOS, this replaces the arguments that ps shows to other users.
  if (flags.databaseUrl !== undefined) process.title = 'sandbox-kit';
  if (flags.dataDir === undefined) return flags.databaseUrl ?? readDatabaseVariable(process.env);
  if (flags.databaseUrl === undefined) return undefined;
  throw new UsageError("--data and --database can't be combined: choose where the data is.");
}

function readDatabaseVariable(env: Variables): string | undefined {
  const url = readEnvironment(env).SANDBOX_KIT_DATABASE_URL;
  if (url !== '') return url;
  throw new UsageError(
    'SANDBOX_KIT_DATABASE_URL is empty. Set it to the URL of the database, or unset it.',
  );
}

/** Returns whether SANDBOX_KIT_DATABASE_URL names a database. */
export const hasDatabaseVariable = (env: Variables): boolean =>
  Boolean(readEnvironment(env).SANDBOX_KIT_DATABASE_URL);

/** Suggests the option for a URL of a database that was given as an argument. */
export const hintDatabase = (word: string): string | undefined =>
  /^postgres(ql)?:/i.test(word) ? 'Did you mean --database URL?' : undefined;

/** Returns the key of the checked sandbox or service, and the header of the service's key. */
export function readTargetKey(
  flags: KeyFlags & { areas?: readonly Area[] | undefined; apiKeyHeader: string },
  env: Variables,
): { apiKey: string | undefined; apiKeyHeader: string | undefined } {
  if (!flags.areas?.includes('service')) {
    return { apiKey: readSandboxKey(flags, env), apiKeyHeader: undefined };
  }
  return {
    apiKey: readServiceKey(flags, env),
    apiKeyHeader: flags.apiKeyHeader.toLowerCase(),
  };
}

function readKey(
  { apiKey: configured, apiKeyFile }: KeyFlags,
  name: 'SANDBOX_KIT_API_KEY' | 'SANDBOX_KIT_SERVICE_API_KEY',
  env: Variables,
): string | undefined {
  if (configured !== undefined && apiKeyFile !== undefined) {
    throw new UsageError(
      'The configuration file sets both apiKey and apiKeyFile. Remove one of them.',
    );
  }
  if (configured !== undefined) return checkKey(configured, 'The key in apiKey');
  if (apiKeyFile !== undefined) {
    const key = readTextFile(apiKeyFile, '--api-key-file').trim();
    if (key === '') throw new UsageError(`The key file ${apiKeyFile} (--api-key-file) is empty.`);
    return checkKey(key, `The key in ${apiKeyFile} (--api-key-file)`);
  }
  const key = readEnvironment(env)[name];
  return key === undefined ? undefined : checkKey(key, `The key in ${name}`);
}

/** Returns a key that fits into an HTTP header. */
function checkKey(key: string, label: string): string {
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw new UsageError(
    `${label} must be one line of printable ASCII without spaces: an HTTP header can't carry other characters.`,
  );
}

/** Reads the proxies. Lowercase variables take precedence, as in other programs. */
export function readProxies(env: Variables): ProxySettings {
  const variables = readEnvironment(env);
  const { https_proxy: https, http_proxy: http, no_proxy: none } = variables;
  return {
    https: https ?? variables.HTTPS_PROXY,
    http: http ?? variables.HTTP_PROXY,
    noProxy: none ?? variables.NO_PROXY,
  };
}

/** Returns the PEM text of the file that `--ca` names. */
export function readCa(path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  const pem = readTextFile(path, '--ca');
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----/gs);
  if (!blocks) throw new UsageError(`${path} (--ca) contains no PEM certificate.`);
  if (!blocks.every(isCertificate)) {
    throw new UsageError(`${path} (--ca) contains an invalid PEM certificate.`);
  }
  return pem;
}

/**
 * Reads the model of the LLM judge or of the simulated users.
 *
 * @throws {UsageError} if only one of URL and MODEL is set, or the URL is invalid.
 */
export function readModelEndpoint(
  role: 'JUDGE' | 'USER',
  env: Variables,
): ModelEndpoint | undefined {
  const variables = readEnvironment(env);
  const [urlName, modelName] = [`SANDBOX_KIT_${role}_URL`, `SANDBOX_KIT_${role}_MODEL`] as const;
  const baseUrl = variables[urlName];
  const model = variables[modelName];
  if (baseUrl === undefined && model === undefined) return undefined;
  if (baseUrl === undefined || model === undefined) {
    const [setName, missingName] =
      baseUrl === undefined ? [modelName, urlName] : [urlName, modelName];
    throw new UsageError(`${setName} is set, but ${missingName} is not. Set both or neither.`);
  }
  checkEndpointUrl(urlName, baseUrl);
  return { baseUrl, model, apiKey: variables[`SANDBOX_KIT_${role}_API_KEY`] };
}

/**
 * Reads the endpoint that replaces the built-in speech synthesizer.
 *
 * @throws {UsageError} if MODEL or VOICE is set without URL, or the URL is invalid.
 */
export function readSpeechEndpoint(env: Variables): SpeechModel | undefined {
  const {
    SANDBOX_KIT_SPEECH_URL: baseUrl,
    SANDBOX_KIT_SPEECH_MODEL: model,
    SANDBOX_KIT_SPEECH_VOICE: voice,
    SANDBOX_KIT_SPEECH_API_KEY: key,
  } = readEnvironment(env);
  if (baseUrl === undefined) {
    if (model === undefined && voice === undefined) return undefined;
    const setName = model === undefined ? 'SANDBOX_KIT_SPEECH_VOICE' : 'SANDBOX_KIT_SPEECH_MODEL';
    throw new UsageError(`${setName} is set, but SANDBOX_KIT_SPEECH_URL is not. Set the URL too.`);
  }
  checkEndpointUrl('SANDBOX_KIT_SPEECH_URL', baseUrl);
  return {
    baseUrl,
    ...(model !== undefined && { model }),
    ...(voice !== undefined && { voice }),
    ...(key !== undefined && { apiKey: checkKey(key, 'The key in SANDBOX_KIT_SPEECH_API_KEY') }),
  };
}

function checkEndpointUrl(name: string, url: string): void {
  if (/^https?:$/.test(URL.parse(url)?.protocol ?? '')) return;
  throw new UsageError(
    `${name} must be a URL that starts with http:// or https://, got ${quoteUrl(url)}.`,
  );
}
