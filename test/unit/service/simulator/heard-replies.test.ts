/** Which audio belongs to which reply, and what a failed transcription means. */
import t from 'tap';
import { systemClock } from '../../../../src/platform/clock.ts';
import { compareReplies } from '../../../../src/service/simulator/calls/heard-replies.ts';
import { ReplyAudio } from '../../../../src/service/simulator/calls/reply-audio.ts';
import type { SimulatedTurn } from '../../../../src/service/turns/turn-types.ts';
import type { Transcriber } from '../../../../src/voice/transcription/index.ts';

/** A recording whose packets are the times between which they arrived. */
const recording = {
  receivedBetween: (fromMs: number, toMs: number) => [Buffer.from(`${fromMs}-${toMs}`)],
};

const span = (startMs: number, endMs: number) => ({ startMs, endMs });

const turn = (sequence: number, agentResponse: string): SimulatedTurn => ({
  sequence,
  agentResponse,
  userInput: 'Hi',
  userReason: '',
  toolCalls: [],
  latencyMs: 1,
  failed: false,
});

const { signal } = new AbortController();

/** Hears what the packets say, by their text. */
const hear = (texts: Record<string, string>): Transcriber => ({
  transcribe: (packets) =>
    Promise.resolve({ ok: true, text: texts[Buffer.concat([...packets]).toString()] ?? '?' }),
});

void t.test('each reply has the speech from its line to the next one', async (t) => {
  const audio = new ReplyAudio(recording);
  audio.begin(1, 1_000);
  audio.begin(2, 8_000);
  // A greeting, a reply of two sentences, and one more.
  const speech = [span(0, 900), span(3_000, 4_000), span(5_000, 6_000), span(9_000, 9_500)];
  audio.finish(speech, { interruptions: [] });
  t.same(audio.packetsOf(1).map(String), ['2800-6200']);
  t.same(audio.packetsOf(2).map(String), ['8800-9700']);
  t.same(audio.packetsOf(3), [], 'a turn without speech');
  const transcriber = hear({ '2800-6200': 'yes', '8800-9700': 'good bye' });
  const turns = [turn(1, 'Yes.'), turn(2, 'Bye.'), turn(3, 'And more.')];
  const { heard, notes } = await compareReplies(
    turns,
    { audio, transcriber, clock: systemClock },
    signal,
  );
  t.same(notes, []);
  t.match(heard, {
    words: 4,
    errors: 3,
    word_error_rate: 0.75,
    not_compared: [],
    replies: [
      { turn: 1, heard: 'yes', errors: 0 },
      { turn: 2, heard: 'good bye', errors: 1 },
      { turn: 3, heard: '', errors: 2 },
    ],
  });
});

void t.test('the audio of an interrupted reply ends when the agent yields', async (t) => {
  const make = (interruption: { yield_ms: number | null; corrected?: boolean }): ReplyAudio => {
    const audio = new ReplyAudio(recording);
    audio.begin(1, 1_000);
    audio.begin(2, 4_000);
    const speech = [span(2_000, 3_500), span(3_800, 4_300), span(5_500, 6_000)];
    audio.finish(speech, { interruptions: [{ turn: 2, at_ms: 0, ...interruption }] });
    return audio;
  };
  const yielding = make({ yield_ms: 300, corrected: true });
  t.same(yielding.packetsOf(1).map(String), ['1800-4500']);
  t.same(yielding.packetsOf(2).map(String), ['5300-6200']);
  t.ok(yielding.isComparable(1) && yielding.isComparable(2));
  const silent = make({ yield_ms: 300 });
  t.same(
    [silent.isComparable(1), silent.isComparable(2)],
    [false, true],
    'no text of what was said',
  );
  const going = make({ yield_ms: null, corrected: true });
  t.same([going.isComparable(1), going.isComparable(2)], [false, false], 'two replies at a time');
  const comparison = {
    audio: silent,
    transcriber: hear({ '5300-6200': 'no' }),
    clock: systemClock,
  };
  const { heard } = await compareReplies([turn(1, 'Yes.'), turn(2, 'No.')], comparison, signal);
  t.match(heard, {
    words: 1,
    errors: 0,
    not_compared: [{ turn: 1, reason: 'interrupted' }],
    replies: [{ turn: 2, heard: 'no' }],
  });
});

void t.test('after a failure, the rest of the call is not transcribed', async (t) => {
  const audio = new ReplyAudio(recording);
  const turns = Array.from({ length: 20 }, (_, nth) => turn(nth + 1, 'Yes.'));
  for (const { sequence } of turns) audio.begin(sequence, sequence * 1_000);
  audio.finish(
    turns.map(({ sequence }) => span(sequence * 1_000 + 100, sequence * 1_000 + 200)),
    { interruptions: [] },
  );
  let requests = 0;
  const transcriber: Transcriber = {
    transcribe() {
      requests += 1;
      return Promise.resolve({ ok: false, message: 'the endpoint is away' });
    },
  };
  const comparison = { audio, transcriber, clock: systemClock };
  const { heard, notes } = await compareReplies(turns, comparison, signal);
  t.same(notes, ['Speech was not compared with text in 20 turns: the endpoint is away.']);
  t.match(heard, { words: 0, word_error_rate: null, replies: [] });
  t.equal(heard?.not_compared.length, 20);
  t.ok(requests <= 4, `${requests} requests`);
  const canceled = await compareReplies(turns, comparison, AbortSignal.abort());
  t.same(canceled, { heard: undefined, notes: [] });
});
