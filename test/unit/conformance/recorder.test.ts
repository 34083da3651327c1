import t from 'tap';
import { createRecorder, type NewExchange } from '../../../conformance/engine/drive/recorder.ts';
import { writeTranscript } from '../../../conformance/engine/transcript/transcript.ts';

/** An exchange in which the sandbox says `body`, to a request that carried `bearer`. */
function exchange(bearer: string, body: string): NewExchange {
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

/** All that is kept of an exchange, as text. */
function kept(secret: string, body: string): string {
  const records = createRecorder([secret]);
  records.record(exchange(secret, body));
  return writeTranscript({ run: undefined as never, exchanges: records.exchanges });
}

void t.test('a key never stays in a recording, in whatever form it is echoed', (t) => {
  const secret = 'k/ey"with\\marks+and=more';
  const forms = [
    secret,
    JSON.stringify({ echo: secret }),
    JSON.stringify({ echo: secret }).replaceAll('/', '\\/'),
    `https://example.com/?key=${encodeURIComponent(secret)}`,
  ];
  for (const body of forms) {
    const text = kept(secret, body);
    t.notMatch(text, 'with', body);
    t.match(text, '<redacted>');
  }
  t.end();
});

void t.test('a key that is a word of the interface leaves bodies readable', (t) => {
  const text = kept('user', '{"role":"user"}');
  t.match(text, 'role');
  t.match(text, '\\"user\\"', 'the body is as it was');
  t.notMatch(text, 'Bearer user');
  t.end();
});

void t.test('a key that is none of ours is kept: it shows what was sent', (t) => {
  const records = createRecorder(['the-real-key']);
  const { request } = records.record(exchange('sandbox-kit-wrong-key', '{}'));
  t.equal(request.headers['authorization'], 'Bearer sandbox-kit-wrong-key');
  t.end();
});
