import { createPrivateKey } from 'node:crypto';
import { generate } from 'selfsigned';

/** A certificate and its key, in PEM. */
export interface KeyPair {
  cert: string;
  key: string;
}

/** Generates a self-signed certificate for a host name, or for a client. It is its own CA. */
export async function generateKeyPair(
  name: string,
  validity: { notBeforeDate?: Date; notAfterDate?: Date } = {},
): Promise<KeyPair> {
  const { cert, private: key } = await generate([{ name: 'commonName', value: name }], {
    keyType: 'ec',
    algorithm: 'sha256',
    ...validity,
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', digitalSignature: true, keyCertSign: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true, clientAuth: true },
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: name },
          { type: 7, ip: '127.0.0.1' },
        ],
      },
    ],
  });
  return { cert, key };
}

/** Encrypts a private key. */
export function encryptKey(key: string, passphrase: string): string {
  const options = { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase } as const;
  return createPrivateKey(key).export(options);
}
