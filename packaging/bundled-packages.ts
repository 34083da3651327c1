/**
 * Libraries that the published kit contains in `dist/vendor/`, so that installing it doesn't install
 * them and everything that they depend on, and so that commands start faster (docs/decisions). A run
 * from the sources imports the installed packages.
 */
export const bundledPackages = [
  'autocannon',
  'fastify',
  'hdr-histogram-js',
  'kysely',
  'pino',
  'protobufjs',
  'selfsigned',
  'werift',
  'ws',
  'yaml',
  'yargs',
  'zod',
] as const;

/** Bundled packages that stay dependencies, because published type declarations refer to them. */
export const typePackages: readonly string[] = ['zod'];
