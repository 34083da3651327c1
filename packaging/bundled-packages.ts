/**
 * Libraries that the build puts into `dist/bundle/`, with their dependencies. Every other library that
 * runs on users' machines is a dependency, which users can audit and update (docs/decisions/0049). Each
 * library here is pinned to one version.
 */
export const bundledPackages = [
  // Must be patched (packaging/patches/werift).
  'werift',
  // Makes the certificate of `agent --tls`. werift contains it anyway; alone it would be 19 packages.
  '@peculiar/x509',
  // 58 packages, most of them for its own command line: tables, progress bars, and multipart forms.
  'autocannon',
] as const;
