import { z } from 'zod';
import { UsageError } from './usage-error.ts';

const environment = z.object({
  SANDBOX_KIT_API_KEY: z.string().trim().min(1).optional().catch(undefined),
  SANDBOX_KIT_SERVICE_API_KEY: z.string().trim().min(1).optional().catch(undefined),
  SANDBOX_KIT_JUDGE_URL: z.string().trim().min(1).optional().catch(undefined),
  SANDBOX_KIT_JUDGE_MODEL: z.string().trim().min(1).optional().catch(undefined),
  SANDBOX_KIT_JUDGE_API_KEY: z.string().trim().min(1).optional().catch(undefined),
  SANDBOX_KIT_USER_URL: z.string().trim().min(1).optional().catch(undefined),
  SANDBOX_KIT_USER_MODEL: z.string().trim().min(1).optional().catch(undefined),
  SANDBOX_KIT_USER_API_KEY: z.string().trim().min(1).optional().catch(undefined),
  SANDBOX_KIT_SPEECH_URL: z.string().trim().min(1).optional().catch(undefined),
  SANDBOX_KIT_SPEECH_MODEL: z.string().trim().min(1).optional().catch(undefined),
  SANDBOX_KIT_SPEECH_VOICE: z.string().trim().min(1).optional().catch(undefined),
  SANDBOX_KIT_SPEECH_API_KEY: z.string().trim().min(1).optional().catch(undefined),
  NO_COLOR: z.string().optional(),
  TERM: z.string().optional(),
});

/** The variables that the kit reads. Nothing outside this file looks at the environment. */
export type Environment = z.infer<typeof environment>;

/** Reads the environment of the process. An empty key counts as none. */
export function readEnvironment(): Environment {
  return environment.parse(process.env);
}

/** A bearer key must fit into an HTTP header. */
export function checkedKey(key: string, source: string): string {
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new UsageError(
      `The key from ${source} has characters that no HTTP header can carry: expected one line of printable ASCII without spaces.`,
    );
  }
  return key;
}
