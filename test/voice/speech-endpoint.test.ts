/** Speech from an OpenAI-compatible endpoint: requests, responses, and failures. */
import t, { type Test } from 'tap';
import { measureLevelDb } from '../../src/voice/activity/index.ts';
import { createScaledClock, createSkippingClock } from '../../src/platform/clock.ts';
import { createDecoder, type Clip } from '../../src/voice/opus/index.ts';
import {
  createSpeechSynthesizer,
  type SpeechSynthesizer,
  type SynthesizerOptions,
} from '../../src/voice/speech/index.ts';
import {
  speechResponses,
  startSpeechServer,
  createToneWav,
  type SpeechServer,
  type WavFormat,
} from '../support/models/speech-server.ts';

interface SynthesizerWithServer {
  server: SpeechServer;
  voice: SpeechSynthesizer;
}

/** Starts a speech server and a synthesizer that uses it; closes both after the test. */
async function withSynthesizer(
  t: Test,
  options: Partial<SynthesizerOptions> = {},
): Promise<SynthesizerWithServer> {
  const server = await startSpeechServer(t);
  const endpoint = { baseUrl: server.baseUrl, apiKey: 'sk-secret', ...options.endpoint };
  const voice = createSpeechSynthesizer({ speaker: 'user', ...options, endpoint });
  t.teardown(() => voice.close());
  return { server, voice };
}

/** Measures the pitch (by zero crossings), level, and duration of the tone in a clip. */
async function measureTone(clip: Clip): Promise<{ hertz: number; db: number; ms: number }> {
  const decoder = await createDecoder();
  const samples = clip.packets.flatMap((packet) => [...(decoder.decode(packet) ?? [])]);
  decoder.free();
  const from = clip.speechStartTicks + 2_400;
  const to = clip.speechEndTicks - 2_400;
  let crossings = 0;
  for (let at = from; at < to; at += 1) {
    if ((samples[at] ?? 0) < 0 && (samples[at + 1] ?? 0) >= 0) crossings += 1;
  }
  return {
    hertz: (crossings * 48_000) / (to - from),
    db: measureLevelDb(Float32Array.from(samples.slice(from, to))),
    ms: (clip.speechEndTicks - clip.speechStartTicks) / 48,
  };
}

void t.test('requests have the form of OpenAI and contain the text unchanged', async (t) => {
  const { server, voice } = await withSynthesizer(t);
  server.respondWith(speechResponses.wav(createToneWav(300, { rate: 24_000 })));
  const clip = await voice.speak('Où est ma commande A-1001 ?');
  t.match(clip, { speaker: 'user', text: 'Où est ma commande A-1001 ?' });
  await voice.speak('Où est ma commande A-1001 ?');
  t.strictSame(
    server.requests,
    [
      {
        path: '/v1/audio/speech',
        authorization: 'Bearer sk-secret',
        body: {
          model: 'tts-1',
          voice: 'nova',
          input: 'Où est ma commande A-1001 ?',
          response_format: 'wav',
        },
      },
    ],
    'the second line comes from the cache',
  );
  const own = await withSynthesizer(t, {
    endpoint: { baseUrl: `${server.baseUrl}/`, model: 'kokoro', voice: 'af_sky' },
  });
  await own.voice.speak('日本語');
  t.match(server.requests[1], {
    path: '/v1/audio/speech',
    body: { model: 'kokoro', voice: 'af_sky', input: '日本語' },
  });
});

void t.test('every WAV format gives the same tone', async (t) => {
  const formats: WavFormat[] = [
    { rate: 24_000 },
    { rate: 24_000, isStreamed: true },
    { rate: 8_000, bits: 8 },
    { rate: 11_025 },
    { rate: 16_000, bits: 24 },
    { rate: 22_050, channels: 2 },
    { rate: 44_100, bits: 32 },
    { rate: 48_000, bits: 32, isFloat: true },
    { rate: 96_000 },
    { rate: 12_347 },
  ];
  const { server, voice } = await withSynthesizer(t);
  for (const format of formats) {
    server.respondWith(speechResponses.wav(createToneWav(600, format)));
    const name = JSON.stringify(format);
    const { hertz, db, ms } = await measureTone(await voice.speak(name));
    t.ok(Math.abs(hertz - 440) < 6, `${name}: ${hertz} Hz`);
    t.ok(Math.abs(db + 20) < 2, `${name}: ${db} dB`);
    t.ok(Math.abs(ms - 600) <= 30, `${name}: ${ms} ms`);
  }
});

void t.test('a response that is not speech is refused with the reason', async (t) => {
  const { server, voice } = await withSynthesizer(t);
  const wav = createToneWav(100, { rate: 24_000 });
  const withBytes = (at: number, bytes: readonly number[]): Buffer => {
    const file = Buffer.from(wav);
    file.set(bytes, at);
    return file;
  };
  const files: [Buffer, RegExp][] = [
    [Buffer.from('ID3 this is an MP3'), /expected a WAV file, but the RIFF header is missing/],
    [Buffer.alloc(0), /expected a WAV file/],
    [wav.subarray(0, 40), /with audio, but it has no data/],
    [withBytes(20, [2, 0]), /expected PCM with 8 to 32 bits, got coding 2 with 16 bits/],
    [withBytes(24, [1, 0, 0, 0]), /expected 8 to 192 kHz/],
    [withBytes(22, [0, 0]), /got 0 channels/],
    [createToneWav(0, { rate: 24_000 }), /but it is silent/],
    [
      createToneWav(301_000, { rate: 8_000, bits: 8 }),
      /a line must not exceed 300 s, this one takes 302 s/,
    ],
  ];
  for (const [nth, [file, message]] of files.entries()) {
    server.respondWith(speechResponses.wav(file));
    await t.rejects(voice.speak(`file ${nth}`), { name: 'SpeechError', message });
  }
});

void t.test('temporary failures are retried, within limits', async (t) => {
  const { server, voice } = await withSynthesizer(t, { clock: createSkippingClock(5) });
  const wav = speechResponses.wav(createToneWav(100, { rate: 24_000 }));
  server.respondWith(
    speechResponses.status(429, { 'retry-after': '7' }),
    speechResponses.status(500),
    wav,
  );
  await voice.speak('one');
  t.equal(server.requests.length, 3);
  server.respondWith(speechResponses.status(503));
  await t.rejects(voice.speak('two'), { message: /returned HTTP 503 in 3 attempts$/ });
  t.equal(server.requests.length, 6);
  server.respondWith(speechResponses.status(429, { 'retry-after': '3600' }));
  await t.rejects(voice.speak('three'), { message: /returned HTTP 429$/ });
  t.equal(server.requests.length, 7, 'a Retry-After of an hour is too long');
});

void t.test(
  'permanent failures name the setting to check, and contain neither the key nor the text',
  async (t) => {
    const { server, voice } = await withSynthesizer(t);
    const refusals: [number, RegExp][] = [
      [401, /rejects the key \(401\); see SANDBOX_KIT_SPEECH_API_KEY/],
      [404, /\(404\); see SANDBOX_KIT_SPEECH_URL/],
      [400, /rejects the request \(400\); see SANDBOX_KIT_SPEECH_MODEL/],
    ];
    for (const [status, message] of refusals) {
      server.respondWith(speechResponses.status(status));
      const error = await voice.speak(`words ${status}`).catch((reason: unknown) => reason);
      t.match(error, { name: 'SpeechError', message });
      t.notMatch(String(error), /secret|words/);
    }
    t.equal(server.requests.length, refusals.length);
  },
);

void t.test('a silent, endless, or unreachable endpoint fails in bounded time', async (t) => {
  const { server, voice } = await withSynthesizer(t, { clock: createScaledClock(200) });
  server.respondWith(speechResponses.none);
  await t.rejects(voice.speak('one'), { message: /did not respond within 30000 ms/ });
  const endless = await withSynthesizer(t);
  endless.server.respondWith(speechResponses.endless);
  await t.rejects(endless.voice.speak('two'), { message: /more than 33554432 bytes/ });
  const unreachable = await withSynthesizer(t, {
    clock: createSkippingClock(5),
    endpoint: { baseUrl: 'http://127.0.0.1:1/v1' },
  });
  await t.rejects(unreachable.voice.speak('three'), { message: /speech endpoint is unreachable/ });
});

void t.test('closing a synthesizer aborts its requests', async (t) => {
  const { server, voice } = await withSynthesizer(t);
  server.respondWith(speechResponses.none);
  const outcome = Promise.allSettled([voice.speak('one')]);
  await server.waitForRequests(1);
  await voice.close();
  t.match(await outcome, [{ status: 'rejected', reason: { message: /closed/ } }]);
});

void t.test('the cache keeps no more lines than fit', async (t) => {
  const { server, voice } = await withSynthesizer(t, { cacheBytesMax: 12_000 });
  server.respondWith(speechResponses.wav(createToneWav(300, { rate: 24_000 })));
  for (const text of ['one', 'two', 'one', 'three', 'four', 'five', 'six', 'one']) {
    await voice.speak(text);
  }
  const requestsForOne = server.requests.filter(({ body }) => body['input'] === 'one').length;
  t.equal(requestsForOne, 2, 'one request, and another after the line was evicted');
});
