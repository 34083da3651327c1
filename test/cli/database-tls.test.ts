/** What the command says about a database that it can't use because of TLS or of its name. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { assertUsageError, run } from '../support/commands/command.ts';
import { withPostgres, withPostgresServer } from '../support/database/postgres.ts';
import { generateKeyPair } from '../support/network/certificates.ts';

/** Fails to migrate a database. */
async function assertRefused(t: Test, url: string, message: RegExp): Promise<void> {
  const result = await run(['migrate'], { env: { SANDBOX_KIT_DATABASE_URL: url } });
  assertUsageError(t, result, message);
  t.notMatch(result.stderr, new URL(url).password);
}

/** Writes a file that the server can read, although it may run as another user. */
function writePublicFile(t: Test, name: string, text: string): string {
  const directory = mkdtempSync(join(tmpdir(), 'sandbox-kit-tls-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  chmodSync(directory, 0o755);
  const path = join(directory, name);
  writeFileSync(path, text, { mode: 0o644 });
  return path;
}

void t.test('migrate says how to reach a server that requires encryption', async (t) => {
  const tls = await generateKeyPair('db.example');
  const rules = ['host all postgres all scram-sha-256', 'hostssl all all all scram-sha-256'];
  const hba_file = writePublicFile(t, 'pg_hba.conf', `${rules.join('\n')}\n`);
  const { url } = await withPostgresServer(t, { tls, settings: { hba_file } });
  await assertRefused(
    t,
    url,
    /because it is not encrypted \(28000\)\. .*only encrypted connections\. Add sslmode=verify-full .*sslrootcert=FILE .*sslmode=require/,
  );
  t.equal((await run(['migrate', '--database', `${url}?sslmode=require`])).code, 0);
  const ca = writePublicFile(t, 'ca.pem', tls.cert);
  await assertRefused(
    t,
    `${url}?sslmode=verify-full`,
    /is self-signed and not trusted \(DEPTH_ZERO_SELF_SIGNED_CERT\)\. Add sslrootcert=FILE/,
  );
  const named = new URL(url);
  named.hostname = 'localhost';
  await assertRefused(
    t,
    `${named.href}?sslmode=verify-full&sslrootcert=${ca}`,
    /is not valid for the host in the URL \(ERR_TLS_CERT_ALTNAME_INVALID\)\. .* sslmode=verify-ca/,
  );
});

void t.test('migrate names a database that does not exist', async (t) => {
  const { url } = await withPostgres(t);
  const named = new URL(url);
  named.pathname = '/my.data';
  await assertRefused(
    t,
    named.href,
    /The database "my\.data", which the URL names, does not exist \(3D000\)\. .* CREATE DATABASE/,
  );
  named.pathname = '/kit&sslmode=require';
  await assertRefused(
    t,
    named.href,
    /The database "kit&sslmode=…", .* does not exist \(3D000\)\. .* write \? before the first one: DATABASE\?sslmode=verify-full/,
  );
});
