const UNKNOWN_CA =
  'The CA that signed the certificate of the database server is not trusted. The certificate must be signed by a known CA. ' +
  'Add sslrootcert=FILE to the URL, with a PEM file that contains this CA.';

const WRONG_HOST =
  'The certificate of the database server is not valid for the host in the URL. sslmode=verify-full requires that. ' +
  'Use a host that it is valid for, or write sslmode=verify-ca to accept any host with a certificate of this CA.';

/** The problem with the certificate of a server, and what to do, by Node's error code. */
export const certificateProblems: ReadonlyMap<string, string> = new Map([
  [
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'The certificate of the database server is self-signed and not trusted. ' +
      'Add sslrootcert=FILE to the URL, with a PEM file that contains this certificate.',
  ],
  ['SELF_SIGNED_CERT_IN_CHAIN', UNKNOWN_CA],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', UNKNOWN_CA],
  ['UNABLE_TO_GET_ISSUER_CERT', UNKNOWN_CA],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', UNKNOWN_CA],
  [
    'CERT_HAS_EXPIRED',
    'The certificate of the database server, or of its CA, has expired. Install a new one on the server, or correct the clock of this machine.',
  ],
  [
    'CERT_NOT_YET_VALID',
    'The certificate of the database server, or of its CA, is not valid yet. Correct the clock of this machine, or install another certificate on the server.',
  ],
  [
    'CERT_REVOKED',
    'The certificate of the database server was revoked. Install a new one on the server.',
  ],
  ['ERR_TLS_CERT_ALTNAME_INVALID', WRONG_HOST],
  ['HOSTNAME_MISMATCH', WRONG_HOST],
]);
