/** The speech of the agent in a call, compared with its text. */
import t, { type Test } from 'tap';
import type { EvalDefinition, Scenario } from '../../../src/contract/index.ts';
import {
  htmlReport,
  junitReport,
  markdownReport,
  terminalReport,
} from '../../../src/service/index.ts';
import { plainStyle } from '../../../src/report-kit/terminal.ts';
import { summarizeHeard } from '../../../src/service/runs/heard-facts.ts';
import { withVoiceDouble } from '../../support/calls/voice-double.ts';
import {
  startTranscriptionServer,
  transcriptionResponses,
  type TranscriptionServer,
} from '../../support/models/transcription-server.ts';
import { nightOnly } from '../../support/nightly.ts';
import { withReferenceAgent } from '../../support/sandboxes/reference-agent.ts';
import { makeUserScenario } from '../../support/sessions/scenarios.ts';
import { simulateOn } from '../../support/sessions/simulated-sessions.ts';

t.jobs = 3;

const clear: EvalDefinition = {
  id: 'clear',
  name: 'Clear',
  kind: 'heard_word_error_rate_max',
  params: { max: 0.1, missed_max: 0 },
};

const scenario = (user: Partial<Scenario['user']> = {}): Scenario =>
  makeUserScenario(
    { mode: 'scripted', opening: 'Hello.', ...user },
    { channel: 'voice', evals: [clear] },
  );

const SHORT = 'Your order A-1001 is here.';
const LONG = 'It costs $42.50, and Laura sends it on November 26.';

/** Starts a sandbox whose second reply is about twice as long as the first. */
const withReplies = (t: Test) =>
  withVoiceDouble(t, async (call) => {
    await call.connect();
    await call.waitForEndOfSpeech();
    call.update(SHORT);
    await call.speak();
    await call.waitForEndOfSpeech();
    call.update(LONG);
    for (let nth = 0; nth < 2; nth += 1) await call.speak();
  });

/** Hears one text in the shorter of two replies, and another in the longer one. */
function hear(server: TranscriptionServer, short: string, long: string): void {
  const waiting: { ms: number; respond: (text: string) => void }[] = [];
  server.respondWith((response, request) => {
    const respond = (text: string): void => transcriptionResponses.text(text)(response, request);
    waiting.push({ ms: request.ms, respond });
    if (waiting.length < 2) return;
    const [shorter, longer] = waiting.toSorted((one, other) => one.ms - other.ms);
    shorter?.respond(short);
    longer?.respond(long);
  });
}

const layout = { style: plainStyle, width: 80 };

void t.test(
  'the speech of each reply is compared with its text',
  { timeout: 90_000 },
  async (t) => {
    const { url } = await withReplies(t);
    const server = await startTranscriptionServer(t);
    hear(server, 'Your order a 1 0 0 1 is here.', 'It costs forty-two fifty and Lora sends it');
    const report = await simulateOn(t, url, scenario({ steps: [{ say: 'Tell me more.' }] }), {
      voice: { transcription: { baseUrl: server.baseUrl } },
    });
    const [session] = report.sessions;
    t.match(session, {
      status: 'completed',
      notes: [],
      heard: {
        words: 19,
        errors: 8,
        word_error_rate: 0.4211,
        not_compared: [],
        missed: [
          { turn: 2, kind: 'name', text: 'Laura' },
          { turn: 2, kind: 'date', text: 'November 26' },
        ],
        replies: [
          { turn: 1, heard: 'Your order a 1 0 0 1 is here.', errors: 0 },
          { turn: 2, heard: 'It costs forty-two fifty and Lora sends it' },
        ],
      },
      eval_outcomes: [
        {
          outcome: 'fail',
          reasoning:
            /8 of 19 words \(42\.1%\); said but not heard: name "Laura", date "November 26"\./,
        },
      ],
    });
    t.equal(server.requests.length, 2);
    t.match(report.heard, { calls: 1, words: 19, errors: 8, missed: 2 });
    const figures = /name Laura(?: in turn 2)?(?:,| and) date November 26/;
    const text = terminalReport(report, layout);
    t.match(text.replaceAll(/\s+/g, ' '), /Heard: 1 call; said but not heard name Laura and date/);
    for (const view of [markdownReport(report), junitReport(report), htmlReport(report)]) {
      t.match(view, figures);
      t.match(view, /42\.1% \(8 of 19 words\)/);
    }
    t.match(htmlReport(report), /heard in turn 2<\/dt>\s*<dd>It costs forty-two fifty/);

    const unheard = summarizeHeard(report.sessions, false);
    const skipped = { ...report, ...(unheard && { heard: unheard }) };
    const how = /Nothing was transcribed\. Set SANDBOX_KIT_TRANSCRIBE_URL/;
    for (const view of [terminalReport(skipped, layout), markdownReport(skipped)]) {
      const count = view.replaceAll(/\s+/g, ' ').match(new RegExp(how, 'g'))?.length;
      t.equal(count, 1, 'without an endpoint, the report says how to compare');
    }
    t.match(htmlReport(skipped), how);
  },
);

void t.test(
  'the speech of the reference agent matches its text',
  { timeout: 90_000 },
  async (t) => {
    const { agent } = await withReferenceAgent(t);
    const server = await startTranscriptionServer(t);
    server.respondWith(transcriptionResponses.text('We are open'));
    const interrupt = { after_ms: 600, say: 'Wait, only the order, please.' };
    const opening = 'What are your opening hours?';
    const { sessions } = await simulateOn(
      t,
      agent.url,
      scenario({ opening, opening_delivery: { interrupt } }),
      {
        voice: { transcription: { baseUrl: server.baseUrl, apiKey: 'sk-secret' } },
      },
    );
    const [session] = sessions;
    t.match(session, {
      turn_taking: { interruptions: [{ turn: 2, corrected: true }] },
      heard: { replies: [{ turn: 1, heard: 'We are open' }, { turn: 2 }], not_compared: [] },
    });
    // The agent says that it was interrupted after some words; its audio ends there, too.
    const [stopped, whole] = server.requests.map(({ ms }) => ms).toSorted((a, b) => a - b);
    t.ok((stopped ?? 0) > 300 && (whole ?? 0) > (stopped ?? 0), `${stopped} ms, ${whole} ms`);
    t.notMatch(JSON.stringify(sessions), /sk-secret/);
  },
);

void t.test('a failed transcription is a note, not a failure', nightOnly(), async (t) => {
  const { url } = await withReplies(t);
  const server = await startTranscriptionServer(t);
  server.respondWith(transcriptionResponses.status(401));
  const report = await simulateOn(t, url, scenario(), {
    voice: { transcription: { baseUrl: server.baseUrl, apiKey: 'sk-secret' } },
  });
  t.match(report.sessions[0], {
    status: 'completed',
    notes: [
      /^Speech was not compared with text in 1 turn: the .* rejects the key \(401\); see SAN/,
    ],
    heard: {
      words: 0,
      word_error_rate: null,
      not_compared: [{ turn: 1, reason: 'not_transcribed' }],
    },
    errored_evals: [{ reasoning: /no transcription of turn 1; see the notes/ }],
  });
  t.match(report.heard, { calls: 0, missed: 0 });
  t.notMatch(JSON.stringify(report), /sk-secret/);
});
