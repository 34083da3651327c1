/** URLs of databases mean what they mean to PostgreSQL's own clients, and hide their password. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import t from 'tap';
import {
  DatabaseUrlError,
  findTlsWarning,
  parseDatabaseUrl,
  redactDatabaseUrl,
} from '../../../../src/service/store/postgres/database-url.ts';
import { generateKeyPair } from '../../../support/network/certificates.ts';

/** Returns all that a log of the error would show, except the files of its stack. */
const messageOf = (url: string): string => {
  try {
    parseDatabaseUrl(url);
  } catch (error) {
    if (error instanceof DatabaseUrlError) {
      return inspect(error, { depth: null }).replaceAll(/^ +at .*$/gm, '');
    }
    throw error;
  }
  return '';
};

void t.test('the parts of a URL', (t) => {
  t.match(parseDatabaseUrl('postgres://kit:p%40ss%2F@db.example:6432/kit%20data'), {
    host: 'db.example',
    port: 6432,
    database: 'kit data',
    user: 'kit',
    password: 'p@ss/',
    ssl: false,
  });
  t.match(parseDatabaseUrl('postgresql:///kit'), {
    host: 'localhost',
    port: 5432,
    database: 'kit',
    user: undefined,
    password: undefined,
  });
  t.match(parseDatabaseUrl('postgres://[::1]/kit'), { host: '::1' });
  t.match(parseDatabaseUrl('postgres://kit@%2Fvar%2Frun%2Fpostgresql/kit'), {
    host: '/var/run/postgresql',
  });
  t.end();
});

void t.test('the modes of TLS', async (t) => {
  const ca = join(t.testdir(), 'ca.pem');
  const { cert } = await generateKeyPair('db.example');
  writeFileSync(ca, cert);
  const tlsOf = (query: string) => parseDatabaseUrl(`postgres://db.example/kit?${query}`).ssl;
  t.equal(tlsOf('sslmode=disable'), false);
  t.match(tlsOf('sslmode=require'), { rejectUnauthorized: false });
  t.match(tlsOf(`sslmode=require&sslrootcert=${ca}`), { rejectUnauthorized: true, ca: cert });
  t.match(tlsOf(`sslmode=verify-ca&sslrootcert=${ca}`), {
    rejectUnauthorized: true,
    ca: cert,
    checkServerIdentity: Function,
  });
  t.strictSame(tlsOf(`sslmode=verify-full&sslrootcert=${ca}`), {
    rejectUnauthorized: true,
    ca: cert,
  });
  t.strictSame(tlsOf('sslmode=verify-full&sslrootcert=system'), { rejectUnauthorized: true });
  t.match(parseDatabaseUrl('postgres://127.0.0.1/kit?sslmode=verify-full').ssl, {
    host: '127.0.0.1',
  });
  t.match(messageOf('postgres://db/kit?sslmode=prefer'), /Supported modes are disable, require/);
  t.match(
    messageOf('postgres://db/kit?sslmode=verify-full&sslrootcert=/missing.pem'),
    /Can't read \/missing\.pem/,
  );
  const noCertificate = join(t.testdir(), 'empty.pem');
  writeFileSync(noCertificate, 'hello');
  for (const query of [`sslrootcert=${noCertificate}`, `sslcert=${noCertificate}&sslkey=${ca}`]) {
    t.match(
      messageOf(`postgres://db/kit?sslmode=require&${query}`),
      /empty\.pem, which the URL of the database names, contains no PEM certificate/,
    );
  }
});

void t.test('a URL does not ask for TLS without getting it', (t) => {
  const ca = join(t.testdir(), 'ca.pem');
  for (const [query, message] of [
    [
      `sslrootcert=${ca}`,
      /has sslrootcert, but no sslmode that uses TLS\. Add sslmode=verify-full/,
    ],
    [`sslmode=disable&sslrootcert=${ca}`, /has sslrootcert, .* TLS\. Write sslmode=verify-full/],
    [`sslcert=${ca}`, /has sslcert, but no sslmode that uses TLS/],
    [`sslkey=${ca}`, /has sslkey, but no sslmode that uses TLS/],
    [`sslmode=require&sslcert=${ca}`, /has sslcert, but no sslkey\. Add sslkey=FILE/],
    [`sslmode=require&sslkey=${ca}`, /has sslkey, but no sslcert\. Add sslcert=FILE/],
    ['channel_binding=require', /has channel_binding=require, but no sslmode that uses TLS/],
    [
      'sslmode=require&channel_binding=always',
      /unsupported channel_binding\. Supported values are/,
    ],
    ['sslmode=require&sslmode=disable', /has the parameter sslmode twice\. Remove one/],
    ['sslmode=require&sslmode=require', /has the parameter sslmode twice/],
  ] as const) {
    t.match(messageOf(`postgres://db.example/kit?${query}`), message, query);
  }
  t.equal(parseDatabaseUrl('postgres://db.example/kit?channel_binding=prefer').ssl, false);
  t.end();
});

void t.test('a connection to another machine without TLS has a warning', (t) => {
  const warning =
    /^The connections to the database on db\.example are not encrypted.*\?sslmode=verify-full/;
  t.match(findTlsWarning('postgres://kit:secret@db.example/kit'), warning);
  t.notMatch(findTlsWarning('postgres://kit:secret@db.example/kit'), 'secret');
  for (const url of [
    'postgres://localhost/kit',
    'postgres:///kit',
    'postgres://127.0.0.1/kit',
    'postgres://[::1]/kit',
    'postgres://kit@%2Fvar%2Frun%2Fpostgresql/kit',
    'postgres://db.example/kit?sslmode=disable',
    'postgres://db.example/kit?sslmode=require',
    'postgres://db.example/kit?sslmode=verify-full',
  ]) {
    t.equal(findTlsWarning(url), undefined, url);
  }
  t.end();
});

void t.test('an invalid URL says what is wrong, and hides the password', (t) => {
  for (const [url, message] of [
    ['secret', /must start with postgres:\/\/\. Write postgres:/],
    ['https://kit:secret@db/kit', /must start with postgres:\/\/, not with https:\/\/\./],
    ['mysql://kit:secret@db/kit', /must start with postgres:\/\/, not with mysql:\/\/\./],
    ['postgres://kit:secret@/kit', /has no host/],
    ['postgres://:5432/kit', /has no host/],
    ['postgres://kit:secret@db:x/kit', /The port .* is invalid\. .* from 1 to 65535/],
    ['postgres://kit:secret@db:70000/kit', /The port .* is invalid/],
    ['postgres://kit:secret@db:0/kit', /The port .* is invalid/],
    ['postgres://kit:secret@[::1]:0/kit', /The port .* is invalid/],
    ['postgres://kit:secret/kit', /The port .* is invalid/],
    ['postgres://kit:secret@db1,db2/kit', /has several hosts\. Name one/],
    ['postgres://kit:secret@db1:5432,db2:5433/kit', /has several hosts/],
    ['postgres://kit:sec,ret#@db/kit', /is invalid\. .*special characters/],
    ['postgres://kit:sec#ret@db/kit', /is invalid/],
    ['postgres://kit:1/secret@db/kit', /is invalid/],
    ['postgres://kit:1?secret@db/kit', /is invalid/],
    ['postgres://kit:secret%@db/kit', /is invalid/],
    ['postgres://kit:secret@db', /no name of a database/],
    ['postgres://kit:secret@db/kit?password=secret', /unsupported parameter, password/],
    ['postgres://kit:secret@db/kit?sslmode=secret', /unsupported sslmode/],
  ] as const) {
    const text = messageOf(url);
    t.match(text, message, url);
    t.notMatch(text, /secret|sec#|1\/s/, url);
    t.notMatch(redactDatabaseUrl(url), /secret|sec#|1\/s/, url);
  }
  t.equal(
    redactDatabaseUrl('postgres://kit:secret@db:5433/data?sslmode=require'),
    'postgres://kit@db:5433/data',
  );
  t.end();
});
