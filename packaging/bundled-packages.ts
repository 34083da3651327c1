/**
 * Libraries that the published kit contains in `dist/bundle/`, so that an install contains neither
 * them nor their dependencies, and so that commands start faster (docs/decisions). A run from the
 * sources imports the installed packages.
 */
export const bundledPackages = [
  'autocannon',
  'fastify',
  'hdr-histogram-js',
  'kysely',
  'pg',
  'pino',
  'protobufjs',
  'selfsigned',
  'werift',
  'ws',
  'yaml',
  'yargs',
  'zod',
] as const;

/** Bundled packages that are also dependencies: published type declarations refer to them. */
export const typePackages: readonly string[] = ['zod'];
