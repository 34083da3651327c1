import { createRequire } from 'node:module';

/** Returns the version in package.json, both from the sources and from `dist/bundle/`. */
export function kitVersion(): string {
  const require = createRequire(import.meta.url);
  return (require('sandbox-kit/package.json') as { version: string }).version;
}
