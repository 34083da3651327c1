import { createRequire } from 'node:module';

/** The version of the kit, from its own package.json: the same from `src` and from `dist`. */
export function kitVersion(): string {
  const require = createRequire(import.meta.url);
  return (require('sandbox-kit/package.json') as { version: string }).version;
}
