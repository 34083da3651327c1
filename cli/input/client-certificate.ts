import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { readTextFile } from '../../library/input/files.ts';
import { isoDate, systemClock } from '../../src/platform/clock.ts';
import type { ClientCertificate } from '../../src/platform/connection.ts';
import { UsageError } from '../errors.ts';
import { readEnvironment } from '../flags/environment.ts';
import type { Variables } from '../process.ts';

/** The options of a client certificate. */
export interface CertificateFlags {
  cert?: string | undefined;
  key?: string | undefined;
  keyPassphraseFile?: string | undefined;
}

/**
 * Reads a client certificate and its key, and checks that they can be used.
 *
 * @throws {UsageError} if a file is not PEM, the key does not match, or the certificate is not valid now.
 */
export function readClientCertificate(
  flags: CertificateFlags,
  env: Variables,
): ClientCertificate | undefined {
  const { cert: certPath, key: keyPath, keyPassphraseFile: passphrasePath } = flags;
  if (certPath === undefined && keyPath === undefined) {
    if (passphrasePath === undefined) return undefined;
    throw new UsageError('--key-passphrase-file needs --cert and --key.');
  }
  if (certPath === undefined || keyPath === undefined) {
    throw new UsageError('--cert and --key must be used together.');
  }
  const cert = readTextFile(certPath, '--cert');
  const key = readTextFile(keyPath, '--key');
  const passphrase =
    passphrasePath === undefined
      ? readEnvironment(env).SANDBOX_KIT_KEY_PASSPHRASE
      : readTextFile(passphrasePath, '--key-passphrase-file').replace(/\r?\n$/, '');
  const certificate = parseCertificate(cert, certPath);
  const privateKey = parseKey(key, keyPath, passphrase);
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new UsageError(
      `The key in ${keyPath} (--key) does not belong to the certificate in ${certPath} (--cert).`,
    );
  }
  checkValidity(certificate, certPath);
  return { cert, key, ...(passphrase !== undefined && { passphrase }) };
}

function parseCertificate(pem: string, path: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch {
    throw new UsageError(`${path} (--cert) contains no PEM certificate.`);
  }
}

function parseKey(pem: string, path: string, passphrase: string | undefined): KeyObject {
  if (!/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(pem)) {
    throw new UsageError(`${path} (--key) contains no PEM private key.`);
  }
  try {
    // An unused passphrase is ignored, so that the variable can stay set.
    return createPrivateKey({ key: pem, ...(passphrase !== undefined && { passphrase }) });
  } catch (error) {
    const isEncrypted = /ENCRYPTED/.test(pem);
    if (isEncrypted && passphrase === undefined) {
      throw new UsageError(
        `The key in ${path} (--key) is encrypted. Pass its passphrase with --key-passphrase-file FILE or SANDBOX_KIT_KEY_PASSPHRASE.`,
      );
    }
    if (isEncrypted)
      throw new UsageError(`The passphrase does not decrypt the key in ${path} (--key).`);
    const { code = 'unreadable' } = error as NodeJS.ErrnoException;
    throw new UsageError(`${path} (--key) contains an invalid private key (${code}).`);
  }
}

function checkValidity({ validFrom, validTo }: X509Certificate, path: string): void {
  const nowMs = systemClock.nowMs();
  const fromMs = Date.parse(validFrom);
  const toMs = Date.parse(validTo);
  if (nowMs > toMs) {
    throw new UsageError(`The certificate in ${path} (--cert) expired on ${isoDate(toMs)}.`);
  }
  if (nowMs < fromMs) {
    throw new UsageError(
      `The certificate in ${path} (--cert) is not valid before ${isoDate(fromMs)}.`,
    );
  }
}
