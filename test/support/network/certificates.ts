import { createPrivateKey } from 'node:crypto';
import * as selfSigned from '../../../src/http-kit/self-signed.ts';

/** Generates a certificate for a host name, or for a client. */
export const generateKeyPair = (
  name: string,
  validity: { notBefore?: Date; notAfter?: Date } = {},
): Promise<selfSigned.KeyPair> =>
  selfSigned.generateKeyPair({ ...validity, name, isForClient: true });

/** Encrypts a private key. */
export function encryptKey(key: string, passphrase: string): string {
  const options = { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase } as const;
  return createPrivateKey(key).export(options);
}
