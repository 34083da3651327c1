/** The recorder: no key of the user appears in a recording. */
import t from 'tap';
import { createRecorder, type NewExchange } from '../../../conformance/engine/drive/recorder.ts';
import {
  findInvalidByte,
  toRecordedBody,
} from '../../../conformance/engine/transcript/body-encoding.ts';
import { writeTranscript } from '../../../conformance/engine/transcript/transcript.ts';

/** Creates an exchange with a bearer key whose response echoes `body` in a header and the body. */
function createExchange(bearer: string, body: string): NewExchange {
  return {
    probe: 'chat/forms',
    step: 'full',
    endpoint: 'chat',
    intent: 'valid',
    request: { method: 'POST', path: '/', headers: { authorization: `Bearer ${bearer}` } },
    response: { status: 200, headers: { 'x-echo': body }, body },
    startedMs: 0,
    endedMs: 1,
  };
}

/** Returns the recording of one exchange as text. */
function recordingOf(secret: string, body: string): string {
  const recorder = createRecorder([secret]);
  recorder.record(createExchange(secret, body));
  return writeTranscript({ run: undefined as never, exchanges: recorder.exchanges });
}

void t.test('a key is redacted in every encoding in which a sandbox echoes it', (t) => {
  const secret = 'k/ey"with\\marks+and=more';
  const forms = [
    secret,
    JSON.stringify({ echo: secret }),
    JSON.stringify({ echo: secret }).replaceAll('/', '\\/'),
    `https://example.com/?key=${encodeURIComponent(secret)}`,
  ];
  for (const body of forms) {
    const text = recordingOf(secret, body);
    t.notMatch(text, 'with', body);
    t.match(text, '<redacted>');
  }
  t.end();
});

void t.test('a short key is redacted in its header, whatever precedes it', (t) => {
  const recorder = createRecorder(['abc']);
  for (const scheme of ['Bearer ', 'bearer ', '']) {
    const exchange = createExchange('', '');
    const request = { ...exchange.request, headers: { authorization: `${scheme}abc` } };
    const recorded = recorder.record({ ...exchange, request });
    t.equal(recorded.request.headers['authorization'], `${scheme}<redacted>`);
  }
  t.end();
});

void t.test('the changed keys that a run sends are redacted in every encoding as well', (t) => {
  const secret = 'the-Real-key-4711';
  for (const key of [secret.toUpperCase(), secret.toLowerCase(), secret.slice(0, -1)]) {
    const encoded = Buffer.from(key).toString('base64').replace(/=+$/, '').slice(0, -1);
    for (const form of [key, encoded]) {
      const text = recordingOf(secret, `refused ${form}`);
      t.notMatch(text, form);
      t.match(text, 'refused <redacted>');
    }
  }
  t.end();
});

void t.test('a key is redacted in bytes that are not UTF-8; all other bytes stay', (t) => {
  const recorder = createRecorder(['the-real-key']);
  const bytes = Buffer.from('{"name":"Grüezi","key":"the-real-key"}', 'latin1');
  const exchange = createExchange('the-real-key', '');
  const response = { status: 200, headers: {}, ...toRecordedBody(bytes) };
  const recorded = recorder.record({ ...exchange, response });
  const { body, bodyBase64 = '' } = recorded.response ?? {};
  t.equal(body, '{"name":"Gr\ufffdezi","key":"<redacted>"}');
  t.equal(
    Buffer.from(bodyBase64, 'base64').toString('latin1'),
    '{"name":"Grüezi","key":"<redacted>"}',
  );
  t.equal(recorded.json, undefined, 'it is not JSON');
  t.same(toRecordedBody(Buffer.from('Grüezi')), { body: 'Grüezi' }, 'UTF-8 needs no bytes');
  t.end();
});

void t.test('the first byte that is not UTF-8 is found', (t) => {
  const find = (...parts: (string | number)[]): unknown => {
    const bytes = parts.map((part) =>
      typeof part === 'number' ? Buffer.from([part]) : Buffer.from(part),
    );
    return findInvalidByte(toRecordedBody(Buffer.concat(bytes)));
  };
  t.match(find('Gr', 0xfc, 'ezi'), { byte: '0xFC', offset: 2 });
  t.match(find('é\ufffd', 0x80), { byte: '0x80', offset: 5 }, 'a real U+FFFD is valid');
  t.match(find('cut', 0xe2, 0x82), { byte: '0xE2', offset: 3 });
  t.equal(find('é'), undefined);
  t.end();
});

void t.test('a key that is a word of the interface is redacted only in its header', (t) => {
  const text = recordingOf('user', '{"role":"user"}');
  t.match(text, 'role');
  t.match(text, '\\"user\\"', 'the body is unchanged');
  t.notMatch(text, 'Bearer user');
  t.end();
});

void t.test('the wrong key that a probe sends is not redacted', (t) => {
  const recorder = createRecorder(['the-real-key']);
  const { request } = recorder.record(createExchange('sandbox-kit-wrong-key', '{}'));
  t.equal(request.headers['authorization'], 'Bearer sandbox-kit-wrong-key');
  t.end();
});

void t.test('cookies and other credentials that a sandbox sends are redacted', (t) => {
  const credentials = {
    'set-cookie': 'sid=my-secret-1; Path=/; HttpOnly, other=my-secret-2',
    'set-cookie2': 'my-secret',
    authorization: 'Bearer my-secret',
    'authentication-info': 'nextnonce="my-secret"',
    'proxy-authorization': 'Basic my-secret',
    'x-auth-token': 'my-secret',
    'x-amz-security-token': 'my-secret',
    'x-api-key': 'my-secret',
    'x-csrf-token': 'my-secret',
    'x-session-id': 'my-secret',
    'x-client-secret': 'my-secret',
    jwt: 'my-secret',
  };
  const others = {
    'content-type': 'application/json',
    'www-authenticate': 'Bearer realm="sandbox"',
    'x-ratelimit-limit-tokens': '1000',
    'x-request-id': 'request-1',
    'retry-after': '1',
    'sec-websocket-accept': 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=',
  };
  const location = 'https://login.example.com/in?state=my-secret#my-secret';
  const recorder = createRecorder([]);
  const exchange = createExchange('the-real-key', '{}');
  const headers = { ...credentials, ...others, location };
  recorder.record({ ...exchange, response: { status: 302, headers, body: '{}' } });
  const [{ response } = { response: undefined }] = recorder.exchanges;
  t.notMatch(writeTranscript({ run: undefined as never, exchanges: recorder.exchanges }), 'my-sec');
  t.same(Object.keys(response?.headers ?? {}), Object.keys(headers), 'the names stay');
  t.match(response?.headers, others, 'other headers stay');
  t.equal(response?.headers['location'], 'https://login.example.com/in?<redacted>');
  t.end();
});
