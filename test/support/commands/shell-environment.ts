/** The environment of a user's shell, for tests that install packages as a user does. */

/**
 * What an install needs: where programs and settings are, and how to reach the package registry
 * (proxies, and the certificates of a network that inspects TLS).
 */
const NAMES = /^(PATH|HOME|TMPDIR|LANG|NODE_EXTRA_CA_CERTS|(https?|no)_proxy)$/i;

/** Returns the variables of a user's shell, without those that tap and npm set for a test. */
export function readShellEnvironment(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && NAMES.test(entry[0]),
    ),
  );
}
