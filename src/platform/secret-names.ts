/**
 * How secrets are recognized by their name. Each place has its own names: those of options and
 * fields are ours, so that few words are enough; those of headers and URL parameters are chosen by
 * others.
 */

/** Returns whether no message shows the value of an option, and everything in it. */
export const isSecretOption = (name: string): boolean =>
  /^(apiKey|keys?|passphrase|clientCertificate|headers)$/.test(name);

/** Returns whether a field of a message holds an API key, in the spellings that people use. */
export const isSecretField = (name: string): boolean => /^(api[-_]?key|key)$/i.test(name);

const CREDENTIAL_HEADER =
  /^(set-cookie2?|cookie|authorization|authentication|jwt|(proxy-)?authentication-info|proxy-authorization)$|(^|-)(token|secret|password|jwt|session|session-?id|sid|auth|api-?key|access-?key|service-key)$/i;

/** Returns whether a header carries credentials, such as a cookie or the token of a session. */
export const isCredentialHeader = (name: string): boolean => CREDENTIAL_HEADER.test(name);

/** Returns whether a parameter of a URL carries credentials. */
export const isCredentialParameter = (name: string): boolean =>
  /key|token|secret|password|auth|signature/i.test(name);
