/** The errors of the driver distinguish failures of a database from bugs. */
import pg from 'pg';
import t from 'tap';
import {
  ResponseTimeoutError,
  findPostgresProblem,
} from '../../../../src/service/store/postgres/database-problem.ts';

/** Returns an error of the server with a SQLSTATE. */
function serverError(code: string, message = 'secret data'): pg.DatabaseError {
  return Object.assign(new pg.DatabaseError(message, message.length, 'error'), { code });
}

const nodeError = (code: string, syscall = 'connect'): Error =>
  Object.assign(new Error(`${syscall} ${code} 127.0.0.1:5432`), { code, syscall });

void t.test('each failure has a kind, and says whether a retry can help', (t) => {
  for (const [error, kind, canRetry] of [
    [nodeError('ECONNREFUSED'), 'unreachable', true],
    [nodeError('ECONNRESET', 'read'), 'unreachable', true],
    [nodeError('ENOTFOUND', 'getaddrinfo'), 'unreachable', true],
    [nodeError('ENOENT'), 'unreachable', true],
    [
      new AggregateError([nodeError('ECONNREFUSED'), nodeError('EHOSTUNREACH')]),
      'unreachable',
      true,
    ],
    [new Error('Connection terminated unexpectedly'), 'unreachable', true],
    [new Error('Connection terminated due to connection timeout'), 'unreachable', true],
    [serverError('08006'), 'unreachable', true],
    [nodeError('DEPTH_ZERO_SELF_SIGNED_CERT'), 'tls_failed', false],
    [nodeError('ERR_SSL_WRONG_VERSION_NUMBER'), 'tls_failed', false],
    [new Error('The server does not support SSL connections'), 'tls_failed', false],
    [
      serverError('28000', 'no pg_hba.conf entry for host "::1", no encryption'),
      'tls_failed',
      false,
    ],
    [serverError('28P01'), 'authentication_failed', false],
    [serverError('28000'), 'authentication_failed', false],
    [serverError('3D000'), 'database_missing', false],
    [serverError('53300'), 'too_many_connections', true],
    [serverError('25006'), 'read_only', true],
    [serverError('53100'), 'disk_full', true],
    [serverError('57014'), 'timeout', true],
    [serverError('55P03'), 'timeout', true],
    [serverError('25P03'), 'timeout', true],
    [new Error('timeout exceeded when trying to connect'), 'timeout', true],
    [new ResponseTimeoutError(), 'timeout', true],
    [serverError('57P01'), 'shutting_down', true],
    [serverError('57P03'), 'shutting_down', true],
    [serverError('42501'), 'permission_denied', false],
  ] as const) {
    const problem = findPostgresProblem(error);
    t.match(problem, { kind, canRetry }, error.message);
    t.ok(problem?.code, 'it has a code for logs');
    t.match(problem?.message, /^[A-Z].*\. .*\.$/, 'it says what to do');
    t.notMatch(problem?.message, /secret/, 'it quotes no data');
  }
  t.end();
});

void t.test('some errors say more than their code', (t) => {
  for (const [error, message] of [
    [
      new Error('SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string'),
      /needs a password, but its URL has none/,
    ],
    [new Error('The server does not support SSL connections'), /does not offer TLS/],
    [nodeError('CERT_HAS_EXPIRED'), /has expired.* Install a new one/],
    [serverError('53300', 'sorry, too many clients already'), /up to 21 .* max_connections/],
    [
      serverError('53300', 'too many connections for role "secret"'),
      /The role .* up to 21 connections\. Raise its limit \(ALTER ROLE/,
    ],
    [
      serverError('53300', 'too many connections for database "secret"'),
      /up to 21 connections\. Raise its limit \(ALTER DATABASE/,
    ],
  ] as const) {
    const problem = findPostgresProblem(error);
    t.match(problem?.message, message);
    t.notMatch(problem?.message, /secret/);
  }
  t.end();
});

void t.test('everything else is a bug', (t) => {
  for (const error of [
    serverError('23505'),
    serverError('42601'),
    serverError('42P01'),
    nodeError('ENOENT', 'open'),
    new TypeError('undefined is not a function'),
    new TypeError('fetch failed', { cause: nodeError('ECONNREFUSED') }),
    'text',
    undefined,
  ]) {
    t.equal(findPostgresProblem(error), undefined, String(error));
  }
  t.end();
});
