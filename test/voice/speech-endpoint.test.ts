/** Speech from an OpenAI-compatible endpoint: what is asked, what is taken, and every way to fail. */
import t, { type Test } from 'tap';
import { measureLevelDb } from '../../src/voice/activity/index.ts';
import { scaledClock, skippingClock } from '../../src/platform/clock.ts';
import { createDecoder, type Clip } from '../../src/voice/opus/index.ts';
import {
  createSpeechSynthesizer,
  type SpeechSynthesizer,
  type SynthesizerOptions,
} from '../../src/voice/speech/index.ts';
import {
  speaks,
  speechServer,
  toneWav,
  type SpeechServer,
  type WavForm,
} from '../helpers/speech-server.ts';

interface Spoken {
  server: SpeechServer;
  voice: SpeechSynthesizer;
}

async function voiceOf(t: Test, options: Partial<SynthesizerOptions> = {}): Promise<Spoken> {
  const server = await speechServer(t);
  const endpoint = { baseUrl: server.baseUrl, apiKey: 'sk-secret', ...options.endpoint };
  const voice = createSpeechSynthesizer({ kind: 'user', ...options, endpoint });
  t.teardown(() => voice.close());
  return { server, voice };
}

/** The pitch of a clip, by its zero crossings, and how loud it is. */
async function toneOf(clip: Clip): Promise<{ hertz: number; db: number; ms: number }> {
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

void t.test('the endpoint is asked as OpenAI is, with the words as they are', async (t) => {
  const { server, voice } = await voiceOf(t);
  server.behave(speaks.wav(toneWav(300, { rate: 24_000 })));
  const clip = await voice.speak('Où est ma commande A-1001 ?');
  t.match(clip, { speaker: 'user', text: 'Où est ma commande A-1001 ?' });
  await voice.speak('Où est ma commande A-1001 ?');
  t.strictSame(
    server.asked,
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
    'once: what was spoken is kept',
  );
  const own = await voiceOf(t, {
    endpoint: { baseUrl: `${server.baseUrl}/`, model: 'kokoro', voice: 'af_sky' },
  });
  await own.voice.speak('日本語');
  t.match(server.asked[1], {
    path: '/v1/audio/speech',
    body: { model: 'kokoro', voice: 'af_sky', input: '日本語' },
  });
});

void t.test('every kind of WAV file sounds alike', async (t) => {
  const forms: WavForm[] = [
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
  const { server, voice } = await voiceOf(t);
  for (const form of forms) {
    server.behave(speaks.wav(toneWav(600, form)));
    const about = JSON.stringify(form);
    const { hertz, db, ms } = await toneOf(await voice.speak(about));
    t.ok(Math.abs(hertz - 440) < 6, `${about}: ${hertz} Hz`);
    t.ok(Math.abs(db + 20) < 2, `${about}: ${db} dB`);
    t.ok(Math.abs(ms - 600) <= 30, `${about}: ${ms} ms`);
  }
});

void t.test('what is no speech is refused with a sentence', async (t) => {
  const { server, voice } = await voiceOf(t);
  const whole = toneWav(100, { rate: 24_000 });
  const withBytes = (at: number, bytes: readonly number[]): Buffer => {
    const file = Buffer.from(whole);
    file.set(bytes, at);
    return file;
  };
  const files: [Buffer, RegExp][] = [
    [Buffer.from('ID3 this is an MP3'), /expected a WAV file, but the RIFF header is missing/],
    [Buffer.alloc(0), /expected a WAV file/],
    [whole.subarray(0, 40), /with audio, but it has no data/],
    [withBytes(20, [2, 0]), /expected PCM with 8 to 32 bits, got coding 2 with 16 bits/],
    [withBytes(24, [1, 0, 0, 0]), /expected 8 to 192 kHz/],
    [withBytes(22, [0, 0]), /got 0 channels/],
    [toneWav(0, { rate: 24_000 }), /but it is silent/],
    [
      toneWav(301_000, { rate: 8_000, bits: 8 }),
      /a line must not exceed 300 s, this one takes 302 s/,
    ],
  ];
  for (const [nth, [file, says]] of files.entries()) {
    server.behave(speaks.wav(file));
    await t.rejects(voice.speak(`file ${nth}`), { name: 'SpeechError', message: says });
  }
});

void t.test('what can be asked again is, within limits', async (t) => {
  const { server, voice } = await voiceOf(t, { clock: skippingClock(5) });
  const wav = speaks.wav(toneWav(100, { rate: 24_000 }));
  server.behave(speaks.status(429, { 'retry-after': '7' }), speaks.status(500), wav);
  await voice.speak('one');
  t.equal(server.asked.length, 3);
  server.behave(speaks.status(503));
  await t.rejects(voice.speak('two'), { message: /fails \(503\), 3 times$/ });
  t.equal(server.asked.length, 6);
  server.behave(speaks.status(429, { 'retry-after': '3600' }));
  await t.rejects(voice.speak('three'), { message: /is asked too often \(429\)$/ });
  t.equal(server.asked.length, 7, 'an hour is more than a line may wait');
});

void t.test('what can not be asked again says what to look at, and nothing secret', async (t) => {
  const { server, voice } = await voiceOf(t);
  const refusals: [number, RegExp][] = [
    [401, /rejects the key \(401\); see SANDBOX_KIT_SPEECH_API_KEY/],
    [404, /\(404\); see SANDBOX_KIT_SPEECH_URL/],
    [400, /rejects the request \(400\); see SANDBOX_KIT_SPEECH_MODEL/],
  ];
  for (const [status, says] of refusals) {
    server.behave(speaks.status(status));
    const failed = await voice.speak(`words ${status}`).catch((error: unknown) => error);
    t.match(failed, { name: 'SpeechError', message: says });
    t.notMatch(String(failed), /secret|words/);
  }
  t.equal(server.asked.length, refusals.length);
});

void t.test('an endpoint that is not there, or has no end, ends in bounded time', async (t) => {
  const { server, voice } = await voiceOf(t, { clock: scaledClock(200) });
  server.behave(speaks.nothing);
  await t.rejects(voice.speak('one'), { message: /did not respond within 30000 ms/ });
  const patient = await voiceOf(t);
  patient.server.behave(speaks.forEver);
  await t.rejects(patient.voice.speak('two'), { message: /more than 33554432 bytes/ });
  const nowhere = await voiceOf(t, {
    clock: skippingClock(5),
    endpoint: { baseUrl: 'http://127.0.0.1:1/v1' },
  });
  await t.rejects(nowhere.voice.speak('three'), { message: /speech endpoint is unreachable/ });
});

void t.test('a voice that is closed breaks its requests off', async (t) => {
  const { server, voice } = await voiceOf(t);
  server.behave(speaks.nothing);
  const outcome = Promise.allSettled([voice.speak('one')]);
  await server.untilAsked(1);
  await voice.close();
  t.match(await outcome, [{ status: 'rejected', reason: { message: /closed/ } }]);
});

void t.test('of what was spoken, no more is kept than fits', async (t) => {
  const { server, voice } = await voiceOf(t, { keptBytesMax: 12_000 });
  server.behave(speaks.wav(toneWav(300, { rate: 24_000 })));
  for (const text of ['one', 'two', 'one', 'three', 'four', 'five', 'six', 'one']) {
    await voice.speak(text);
  }
  const times = server.asked.filter(({ body }) => body['input'] === 'one').length;
  t.equal(times, 2, 'kept while it fits, and asked for again');
});
