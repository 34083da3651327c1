/** API keys from files, environment variables, and the configuration file. */
import type { Area } from '../../src/contract/index.ts';
import { readTextFile } from '../../library/input/files.ts';
import { KEY, KEY_PATTERN } from '../../src/options/keys.ts';
import { UsageError } from '../errors.ts';
import { readEnvironment } from '../flags/environment.ts';
import type { Variables } from '../process.ts';

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

/** The options that set the key of a sandbox or of a service. */
export interface TargetKeyFlags extends KeyFlags {
  areas?: readonly Area[] | undefined;
  apiKeyHeader: string;
}

/** A key, and the lowercase name of its header; undefined for that of a sandbox. */
export interface TargetKey {
  apiKey: string | undefined;
  apiKeyHeader: string | undefined;
}

/** Returns the key of the checked sandbox or service, and the header of the service's key. */
export function readTargetKey(flags: TargetKeyFlags, env: Variables): TargetKey {
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

/**
 * Returns a key that fits into an HTTP header.
 *
 * @throws {UsageError} with the label if it does not fit.
 */
export function checkKey(key: string, label: string): string {
  if (KEY_PATTERN.test(key)) return key;
  throw new UsageError(`${label} must be ${KEY}: an HTTP header can't carry other characters.`);
}
