import * as z from 'zod';
import type { ProxySettings } from '../../src/platform/proxy.ts';
import type { Variables } from '../process.ts';

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
  SANDBOX_KIT_TRANSCRIBE_URL: variable,
  SANDBOX_KIT_TRANSCRIBE_MODEL: variable,
  SANDBOX_KIT_TRANSCRIBE_API_KEY: variable,
  SANDBOX_KIT_KEY_PASSPHRASE: variable,
  https_proxy: variable,
  HTTPS_PROXY: variable,
  http_proxy: variable,
  HTTP_PROXY: variable,
  no_proxy: variable,
  NO_PROXY: variable,
  NO_COLOR: z.string().optional(),
  TERM: z.string().optional(),
  PATH: z.string().optional(),
  npm_command: variable,
  npm_lifecycle_event: variable,
});

/** The environment variables of sandbox-kit. */
type Environment = z.infer<typeof environment>;

/** Reads the environment variables. An empty variable counts as unset, except for the database. */
export function readEnvironment(env: Variables): Environment {
  return environment.parse(env);
}

/** Returns an environment variable by its name. An empty one counts as unset. */
export function readVariable(name: string, env: Variables): string | undefined {
  return variable.parse(env[name]);
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
