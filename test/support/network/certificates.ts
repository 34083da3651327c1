import { createPrivateKey, KeyObject, webcrypto } from 'node:crypto';
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';

/** A certificate and its key, in PEM. */
export interface KeyPair {
  cert: string;
  key: string;
}

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

/** Generates a self-signed certificate for a host name, or for a client. It is its own CA. */
export async function generateKeyPair(
  name: string,
  validity: { notBefore?: Date; notAfter?: Date } = {},
): Promise<KeyPair> {
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    ...validity,
    name: `CN=${name}`,
    keys,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new BasicConstraintsExtension(true, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature | KeyUsageFlags.keyCertSign, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth, ExtendedKeyUsage.clientAuth]),
      new SubjectAlternativeNameExtension([
        { type: 'dns', value: name },
        { type: 'ip', value: '127.0.0.1' },
      ]),
    ],
  });
  const key = KeyObject.from(keys.privateKey).export({ type: 'pkcs8', format: 'pem' });
  return { cert: certificate.toString('pem'), key };
}

/** Encrypts a private key. */
export function encryptKey(key: string, passphrase: string): string {
  const options = { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase } as const;
  return createPrivateKey(key).export(options);
}
