import { readFile } from 'node:fs/promises';
import { StartError } from '../src/http-kit/errors.ts';
import type { KeyPair } from '../src/http-kit/self-signed.ts';
import { errorMessage } from '../src/platform/error-origin.ts';

/** The agent's certificate: generated for this machine, or read from PEM files. */
export type TlsOptions =
  { kind: 'generated' } | { kind: 'files'; certFile: string; keyFile: string };

/** Loads or generates the certificate. @throws StartError when a file can't be read. */
export async function loadKeyPair(tls: TlsOptions): Promise<KeyPair> {
  switch (tls.kind) {
    case 'generated': {
      const { generateKeyPair } = await import('../src/http-kit/self-signed.ts');
      return generateKeyPair();
    }
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
