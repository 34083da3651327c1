/** Loaded by `import()`, because few runs need the library and it would slow down every start. */
import { KeyObject, webcrypto } from 'node:crypto';
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from '@peculiar/x509';

/** A certificate and its private key, PEM. */
export interface KeyPair {
  cert: string;
  key: string;
}

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

/** Whose certificate it is, and what it is for; by default, a server on this machine for one year. */
export interface CertificateOptions {
  /** A host name, or the name of a client. */
  name?: string;
  /** Whether a client may authenticate itself with it, too. */
  isForClient?: boolean;
  notBefore?: Date;
  notAfter?: Date;
}

/** Generates a self-signed certificate. It is also a CA certificate, so that peers can trust it as their CA. */
export async function generateKeyPair({
  name = 'localhost',
  isForClient = false,
  ...validity
}: CertificateOptions = {}): Promise<KeyPair> {
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    ...validity,
    name: `CN=${name}`,
    keys,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new BasicConstraintsExtension(true, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature | KeyUsageFlags.keyCertSign, true),
      new ExtendedKeyUsageExtension([
        ExtendedKeyUsage.serverAuth,
        ...(isForClient ? [ExtendedKeyUsage.clientAuth] : []),
      ]),
      new SubjectAlternativeNameExtension([
        { type: 'dns', value: name },
        { type: 'ip', value: '127.0.0.1' },
        { type: 'ip', value: '::1' },
      ]),
    ],
  });
  const key = KeyObject.from(keys.privateKey).export({ type: 'pkcs8', format: 'pem' });
  return { cert: certificate.toString('pem'), key };
}
