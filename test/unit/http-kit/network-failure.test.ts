/** The reasons why a request got no response: those of a check and those of a load test. */
import t from 'tap';
import { toFailure } from '../../../conformance/engine/drive/http-client.ts';
import { classifyFailure } from '../../../load/engines/failures.ts';

void t.test('checks and load tests classify the same errors, each in its own terms', (t) => {
  const rows: [code: string, check: string, load: string][] = [
    ['ENOTFOUND', 'unresolved', 'unresolved'],
    ['ECONNREFUSED', 'refused', 'refused'],
    ['UND_ERR_CONNECT_TIMEOUT', 'refused', 'refused'],
    ['ERR_PROXY', 'proxy', 'proxy'],
    ['ECONNRESET', 'reset', 'reset'],
    ['UND_ERR_SOCKET', 'reset', 'reset'],
    ['HPE_INVALID_EOF_STATE', 'reset', 'cut_off'],
    ['HPE_INVALID_CHUNK_SIZE', 'malformed', 'protocol'],
    ['HPE_INVALID_CONSTANT', 'protocol', 'protocol'],
    ['HPE_HEADER_OVERFLOW', 'too_large', 'protocol'],
    ['UND_ERR_HEADERS_OVERFLOW', 'too_large', 'protocol'],
    ['UND_ERR_RES_EXCEEDED_MAX_SIZE', 'too_large', 'too_large'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'plain_http', 'tls'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'tls', 'tls'],
    ['EADDRNOTAVAIL', 'refused', 'local'],
    ['EMFILE', 'refused', 'local'],
    ['EUNKNOWN', 'reset', 'protocol'],
  ];
  for (const [code, check, load] of rows) {
    const error = Object.assign(new Error('no'), { code });
    t.equal(toFailure(error, undefined).kind, check, `${code} in a check`);
    t.equal(classifyFailure(error, false).kind, load, `${code} in a load test`);
  }
  const several = new AggregateError([Object.assign(new Error('no'), { code: 'ECONNREFUSED' })]);
  t.equal(toFailure(several, undefined).kind, 'refused', 'the first of several addresses counts');
  const parserError = Object.assign(new Error('no'), { name: 'HTTPParserError' });
  t.equal(toFailure(parserError, undefined).kind, 'protocol', 'an error with a name but no code');
  const lengthError = Object.assign(new Error('no'), {
    code: 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
  });
  t.equal(toFailure(lengthError, undefined).kind, 'malformed', 'before a status');
  t.match(toFailure(lengthError, 200), { kind: 'reset', status: 200 });
  t.equal(classifyFailure(lengthError, true).kind, 'cut_off');
  t.end();
});
