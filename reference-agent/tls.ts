import { readFile } from 'node:fs/promises';
import { StartError } from './errors.ts';

/** How the agent comes by a certificate: made for this machine, or read from PEM files. */
export type TlsOptions = { kind: 'made' } | { kind: 'files'; certFile: string; keyFile: string };

/** A certificate and its key, PEM. */
export interface KeyPair {
  cert: string;
  key: string;
}

/** Loads or makes the certificate. @throws StartError that names a file that can't be read. */
export async function keyPairFor(tls: TlsOptions): Promise<KeyPair> {
  switch (tls.kind) {
    case 'made':
      return makeKeyPair();
    case 'files': {
      return { cert: await readPem(tls.certFile), key: await readPem(tls.keyFile) };
    }
  }
}

async function readPem(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const why = error instanceof Error ? error.message : '';
    throw new StartError(`can't read the certificate or key: ${why}`, { cause: error });
  }
}

/**
 * A certificate for this machine, valid for a year from the machine's own time. It signs itself and
 * says that it may, so a client that is given it as its CA accepts it.
 */
async function makeKeyPair(): Promise<KeyPair> {
  // Loaded here, since few runs need it and it would delay the start of all.
  const { generate } = await import('selfsigned');
  const made = await generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', digitalSignature: true, keyCertSign: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: 'localhost' },
          { type: 7, ip: '127.0.0.1' },
          { type: 7, ip: '::1' },
        ],
      },
    ],
  });
  return { cert: made.cert, key: made.private };
}
