/** Transcription by an OpenAI-compatible endpoint: requests, responses, and failures. */
import t, { type Test } from 'tap';
import { createScaledClock, createSkippingClock, systemClock } from '../../src/platform/clock.ts';
import { silentFrame } from '../../src/voice/opus/index.ts';
import {
  openTranscriber,
  type Transcriber,
  type TranscriptionModel,
} from '../../src/voice/transcription/index.ts';
import {
  startTranscriptionServer,
  transcriptionResponses,
  type TranscriptionServer,
} from '../support/models/transcription-server.ts';

const { signal } = new AbortController();
const REPLY = Array.from({ length: 50 }, () => silentFrame);

async function withTranscriber(
  t: Test,
  model: Partial<TranscriptionModel> = {},
  clock = systemClock,
): Promise<{ server: TranscriptionServer; transcriber: Transcriber }> {
  const server = await startTranscriptionServer(t);
  const { baseUrl } = server;
  return { server, transcriber: openTranscriber({ baseUrl, ...model }, clock) };
}

void t.test('a request has the form of OpenAI, with the audio as an Ogg file', async (t) => {
  const { server, transcriber } = await withTranscriber(t, { apiKey: 'sk-secret' });
  server.respondWith(transcriptionResponses.text('  We are open. '));
  // A lost packet is silent, and one of 60 ms counts as such.
  const packets = [...REPLY, Buffer.alloc(0), Buffer.from('18ff', 'hex')];
  t.same(await transcriber.transcribe(packets, signal), { ok: true, text: 'We are open.' });
  t.same(server.requests, [
    {
      path: '/v1/audio/transcriptions',
      authorization: 'Bearer sk-secret',
      model: 'whisper-1',
      fileName: 'reply.ogg',
      fileType: 'audio/ogg',
      ms: 1_080,
    },
  ]);
  const own = openTranscriber({ baseUrl: `${server.baseUrl}/`, model: 'small.en' }, systemClock);
  await own.transcribe(REPLY, signal);
  t.match(server.requests[1], { path: '/v1/audio/transcriptions', model: 'small.en' });
  t.equal(server.requests[1]?.authorization, undefined);
});

void t.test(
  'temporary failures are retried; the message has no text of the endpoint',
  async (t) => {
    const { server, transcriber } = await withTranscriber(t, {}, createSkippingClock(5));
    const { status, text } = transcriptionResponses;
    server.respondWith(status(429, { 'retry-after': '7' }), status(500), text('ok'));
    t.same(await transcriber.transcribe(REPLY, signal), { ok: true, text: 'ok' });
    t.equal(server.requests.length, 3);
    server.respondWith(status(503));
    t.same(await transcriber.transcribe(REPLY, signal), {
      ok: false,
      message: 'the transcription endpoint returned HTTP 503 in 3 attempts',
    });
  },
);

void t.test('after a permanent failure, the endpoint gets no more requests', async (t) => {
  const refusals: [number, RegExp][] = [
    [401, /rejects the key \(401\); see SANDBOX_KIT_TRANSCRIBE_API_KEY$/],
    [404, /has no \/audio\/transcriptions .* see SANDBOX_KIT_TRANSCRIBE_URL/],
    [400, /rejects the request \(400\); see SANDBOX_KIT_TRANSCRIBE_MODEL$/],
  ];
  for (const [status, message] of refusals) {
    const { server, transcriber } = await withTranscriber(t);
    server.respondWith(transcriptionResponses.status(status));
    t.match(await transcriber.transcribe(REPLY, signal), { ok: false, message });
    t.match(await transcriber.transcribe(REPLY, signal), { ok: false, message });
    t.equal(server.requests.length, 1);
  }
});

void t.test('a response without a text, a slow one, and none are failures', async (t) => {
  const { server, transcriber } = await withTranscriber(t, {}, createScaledClock(200));
  for (const body of ['<html>', '{"words":[]}', '[]', '{"text":5}']) {
    server.respondWith(transcriptionResponses.body(body));
    t.match(await transcriber.transcribe(REPLY, signal), {
      message: /did not return JSON with a text/,
    });
  }
  server.respondWith(transcriptionResponses.body(JSON.stringify({ text: 'x'.repeat(2_000_000) })));
  t.match(await transcriber.transcribe(REPLY, signal), { message: /more than 1048576 bytes/ });
  const slow = await withTranscriber(t, {}, createScaledClock(200));
  slow.server.respondWith(transcriptionResponses.none);
  t.match(await slow.transcriber.transcribe(REPLY, signal), {
    message: /did not respond within 30000 ms/,
  });
  const away = openTranscriber({ baseUrl: 'http://127.0.0.1:1/v1' }, createSkippingClock(5));
  t.match(await away.transcribe(REPLY, signal), {
    message: /transcription endpoint is unreachable; see SANDBOX_KIT_TRANSCRIBE_URL/,
  });
});

void t.test('at most 4 requests at a time; audio of more than 300 s is not sent', async (t) => {
  const { server, transcriber } = await withTranscriber(t);
  const waiting: (() => void)[] = [];
  server.respondWith((response, request) => {
    waiting.push(() => transcriptionResponses.text('ok')(response, request));
    if (waiting.length === 4) for (const respond of waiting.splice(0)) respond();
  });
  const all = Array.from({ length: 12 }, () => transcriber.transcribe(REPLY, signal));
  t.ok((await Promise.all(all)).every(({ ok }) => ok));
  t.equal(server.concurrentMax(), 4);
  const long = Array.from({ length: 15_001 }, () => silentFrame);
  t.match(await transcriber.transcribe(long, signal), {
    message: 'a reply is longer than 300 s',
  });
  t.equal(server.requests.length, 12);
});

void t.test('a canceled run waits for no transcription', async (t) => {
  const { server, transcriber } = await withTranscriber(t);
  server.respondWith(transcriptionResponses.none);
  const control = new AbortController();
  const outcome = transcriber.transcribe(REPLY, control.signal);
  control.abort();
  t.same(await outcome, { ok: false, message: 'the run was canceled' });
  server.respondWith(transcriptionResponses.text('ok'));
  t.same(await transcriber.transcribe(REPLY, signal), { ok: true, text: 'ok' }, 'no refusal');
});
