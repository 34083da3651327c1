import { readFile } from 'node:fs/promises';
import { StartError } from '../src/http-kit/errors.ts';
import { errorMessage } from '../src/platform/error-origin.ts';

/** The agent's certificate: generated for this machine, or read from PEM files. */
export type TlsOptions =
  { kind: 'generated' } | { kind: 'files'; certFile: string; keyFile: string };

/** A certificate and its private key, PEM. */
export interface KeyPair {
  cert: string;
  key: string;
}

/** Loads or generates the certificate. @throws StartError when a file can't be read. */
export async function loadKeyPair(tls: TlsOptions): Promise<KeyPair> {
  switch (tls.kind) {
    case 'generated':
      return generateKeyPair();
    case 'files': {
      return { cert: await readPem(tls.certFile), key: await readPem(tls.keyFile) };
    }
  }
}

async function readPem(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const message = `Can't read the certificate or its key: ${errorMessage(error)}.`;
    throw new StartError(message, { cause: error });
  }
}

/**
 * Generates a self-signed certificate for this machine, valid for one year. It is also a CA
 * certificate, so that clients can trust it as their CA.
 */
async function generateKeyPair(): Promise<KeyPair> {
  // Imported here because few runs need it and it would slow down every start.
  const { generate } = await import('selfsigned');
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }], {
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
  return { cert, key };
}
