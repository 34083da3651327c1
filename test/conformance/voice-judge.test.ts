/** Checks of the voice area: verdicts for faults, audio latency, other message names, and keys. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { conversation } from '../../conformance/areas/voice/probes.ts';
import t, { type Test } from 'tap';
import { sandboxSuite } from '../../conformance/areas/index.ts';
import type { RunSettings } from '../../conformance/engine/drive/run.ts';
import { readTranscript, reportOf } from '../../conformance/index.ts';
import { judgeTranscript, type Judgment } from '../../conformance/engine/judge/judge.ts';
import { passThrough } from '../../conformance/engine/mutants/combinators.ts';
import type { VoiceTransform } from '../../conformance/engine/mutants/mutant.ts';
import type { Transcript } from '../../conformance/engine/transcript/transcript.ts';
import type { AgentOptions } from '../../reference-agent/index.ts';
import { findViolations, type AgentFault, type CheckReport } from '../../src/contract/index.ts';
import { createScaledClock } from '../../src/platform/clock.ts';
import { readOgg } from '../../src/voice/opus/index.ts';
import { assertUsageError, run } from '../support/commands/command.ts';
import { recordRun } from '../support/conformance/checked-service.ts';
import { withDistortion } from '../support/sandboxes/distortions.ts';
import { withReferenceAgent } from '../support/sandboxes/reference-agent.ts';

/** One call with one turn. */
const CONVERSATION = [conversation];
const KEY = 'sk-Very/secret~key.0123456789';

async function withAgent(t: Test, options: Partial<AgentOptions> = {}) {
  const { agent } = await withReferenceAgent(t, options);
  return agent;
}

/** Runs the voice probes against a sandbox, all unless `probes` selects some. */
function runVoiceProbes(target: string, more: Partial<RunSettings> = {}): Promise<Transcript> {
  const options = { areas: ['voice'], apiKey: undefined, concurrency: 4, ...more } as const;
  return recordRun({ url: target, apiKey: '' }, options);
}

const redIdsOf = ({ requirements }: Judgment): string[] =>
  [...requirements].flatMap(([id, { verdict }]) => (/fail|warn/.test(verdict) ? [id] : []));

const verdictOf = ({ requirements }: Judgment, id: string): string | undefined =>
  [...requirements].find(([candidate]) => candidate === id)?.[1].verdict;

void t.test('each injected fault fails exactly its requirements', async (t) => {
  const rows: [fault: AgentFault, ids: string[]][] = [
    [{ kind: 'no_media' }, ['VOICE-071']],
    [{ kind: 'silent_media' }, ['VOICE-076']],
    [{ kind: 'wrong_codec' }, ['VOICE-056']],
    [{ kind: 'bad_sdp' }, ['VOICE-052']],
    [{ kind: 'malformed_body', route: 'voice' }, ['VOICE-010', 'VOICE-014']],
    [{ kind: 'dropped_call' }, ['VOICE-013']],
    [{ kind: 'latency', route: 'voice', latency: { min_ms: 300, max_ms: 300 } }, []],
  ];
  await Promise.all(
    rows.map(async ([fault, ids]) => {
      const { url } = await withAgent(t, { faults: [fault] });
      t.same(
        redIdsOf(
          judgeTranscript(sandboxSuite, await runVoiceProbes(url, { probes: CONVERSATION })),
        ),
        ids,
        fault.kind,
      );
    }),
  );
});

void t.test('the latency target is not proven if the agent buffers audio', async (t) => {
  const late = await withAgent(t, { faults: [{ kind: 'buffered_audio' }] });
  const inTime = await withAgent(t);
  const [buffered, transcript] = await Promise.all([
    runVoiceProbes(late.url, { probes: CONVERSATION }),
    runVoiceProbes(inTime.url, { probes: CONVERSATION }),
  ]);
  t.equal(
    verdictOf(judgeTranscript(sandboxSuite, buffered), 'VOICE-090'),
    'note',
    'not proven is a note',
  );
  const { audioLatency, calls = [] } = reportOf(transcript, transcript.run.startedAt);
  t.match(audioLatency, { audioPathLatencyMs: Number, turnResponseMs: { turns: 1 } });
  const [call] = calls;
  for (const [nth, statedMs] of (call?.statedResponsesMs ?? []).entries()) {
    const ms = call?.turnResponsesMs?.[nth] ?? NaN;
    t.ok(Math.abs(ms - statedMs) < 60, `${ms} ms measured, ${statedMs} ms stated`);
  }
});

/** Expects the SDP answer in a message of type `sdp_answer`. */
const renamedAnswer: VoiceTransform = {
  handleCall: (ends) => ({
    fromKit(text) {
      const { type, description, ...rest } = JSON.parse(text) as Record<string, unknown>;
      const message =
        type === 'sdp_answer'
          ? { ...rest, type: 'webrtc_answer', webrtc_answer: description }
          : { ...rest, type, ...(description !== undefined && { description }) };
      if (type !== 'webrtc_answer') ends.toSandbox(JSON.stringify(message));
    },
  }),
};

void t.test(
  '--voice-answer-type and --voice-answer-field set the message that answers the offer',
  async (t) => {
    const { url: upstream } = await withAgent(t);
    const url = await withDistortion(t, upstream, passThrough, { voice: renamedAnswer });
    const probes = CONVERSATION;
    const answerForm = { type: 'sdp_answer', field: 'description' };
    const [named, unnamed] = await Promise.all([
      runVoiceProbes(url, { probes, voice: { answerForm } }),
      runVoiceProbes(url, { probes }),
    ]);
    t.equal(verdictOf(judgeTranscript(sandboxSuite, named), 'VOICE-070'), 'pass');
    const judged = judgeTranscript(sandboxSuite, unnamed);
    t.match(judged.requirements.get('VOICE-070'), {
      verdict: 'not_applicable',
      reason: /--voice-answer-type/,
    });
    t.same(redIdsOf(judged), [], 'a sandbox that rejects the default answer fails no requirement');
    t.match(reportOf(unnamed, unnamed.run.startedAt).notices, [
      /^Media was not judged: .* --voice-answer-type and --voice-answer-field\.$/,
    ]);
    t.notOk(reportOf(named, named.run.startedAt).notices);
  },
);

void t.test('a sandbox that answers webrtc_answer with an error does not know it', async (t) => {
  const { url: upstream } = await withAgent(t);
  const error = { code: 'connection_failed', message: 'Expected sdp_answer.', details: '' };
  const clock = createScaledClock(5);
  const refusing: VoiceTransform = {
    handleCall: (ends) => ({
      fromKit(text) {
        if (!text.includes('"webrtc_answer"')) ends.toSandbox(text);
        else ends.toKit(JSON.stringify({ type: 'error', error }));
      },
    }),
  };
  const url = await withDistortion(t, upstream, passThrough, { voice: refusing, clock });
  const transcript = await runVoiceProbes(url, { probes: CONVERSATION, clock });
  const judged = judgeTranscript(sandboxSuite, transcript);
  t.same(redIdsOf(judged), []);
  const reason =
    'The sandbox responded to webrtc_answer with the error "connection_failed: Expected sdp_answer.". The specification defines no message for the SDP answer. Set --voice-answer-type and --voice-answer-field to the message that the sandbox expects.';
  for (const id of ['VOICE-070', 'VOICE-071', 'VOICE-077'] as const) {
    t.same(judged.requirements.get(id), { verdict: 'not_applicable', reason }, id);
  }
  t.same(reportOf(transcript, transcript.run.startedAt).notices, [
    'Media was not judged: the sandbox responded to webrtc_answer with the error "connection_failed: Expected sdp_answer.". If it expects another message or field, set --voice-answer-type and --voice-answer-field.',
  ]);
});

void t.test(
  'a sandbox is not judged without its key, and no report contains the key',
  async (t) => {
    const agent = await withAgent(t, {
      apiKey: KEY,
      // The progress of a check of less than 10 s is not printed into a pipe.
      faults: [{ kind: 'latency', route: 'voice', latency: { min_ms: 1_500, max_ms: 1_500 } }],
    });
    const args = ['check', agent.url, '--area', 'voice'];
    const without = await run(args);
    t.equal(without.code, 3, without.stdout);
    t.match(
      without.stdout,
      /requires a key, but none is set \(401: "Authorization must be Bearer\s[^"]+"\)\./,
    );

    const folder = t.testdir({});
    const at = (name: string): string => join(folder, name);
    const files = [
      '--record',
      at('run.ndjson'),
      '--json',
      at('run.json'),
      '--html',
      at('run.html'),
    ];
    const ran = await run([...args, ...files, '--save-audio', 'calls'], {
      cwd: folder,
      env: { SANDBOX_KIT_API_KEY: KEY },
    });
    t.equal(ran.code, 0, ran.stdout + ran.stderr);
    t.match(ran.stdout, /^Calls\n[^]* conversation +ready \d+ ms, media \d+ ms, 1 turn\b/m);
    t.match(ran.stdout, /Audio latency under 200 ms: /);
    t.match(ran.stdout, /^ {2}exchange {2}call +result$/m);
    const [, placed] = /places (\d+) calls/.exec(ran.stdout) ?? [];
    const [, more] = /and (\d+) more without media/.exec(ran.stdout) ?? [];
    const left = /(about|calls take longer, at least) \d+ s left/.source;
    t.match(ran.stderr, new RegExp(`^Progress: \\d+ of \\d+ requests, ${left}$`, 'm'));
    const lines = ran.stdout.split('\n').filter((line) => !line.startsWith('Open the page: '));
    t.ok(
      lines.every((line) => line.length <= 80),
      'every line fits in 80 columns, except the command to copy',
    );
    for (const name of ['run.ndjson', 'run.json', 'run.html']) {
      t.notMatch(readFileSync(at(name), 'utf8'), KEY, name);
    }
    const report = JSON.parse(readFileSync(at('run.json'), 'utf8')) as CheckReport;
    t.same(findViolations('CheckReport', report), []);
    const { calls = [] } = report;
    t.ok(calls.length >= Number(placed), `${calls.length} of ${placed} calls are reported`);
    t.equal(calls.filter(({ packets }) => packets > 0).length + Number(more), calls.length);
    const numbers = calls.map(({ exchange }) => exchange);
    t.same(
      numbers,
      numbers.toSorted((a, b) => a - b),
      'calls are in the order of their exchanges',
    );
    const page = readFileSync(at('run.html'), 'utf8');
    t.match(page, /sandbox sends <b>call_ready<\/b>[^]*kit speaks for [^]*sandbox is audible for/);

    const again = readTranscript(readFileSync(at('run.ndjson'), 'utf8'));
    const graded = reportOf(again, report.endedAt);
    t.same(graded.requirements, report.requirements, 'the recording gets the same verdicts');

    const saved = readdirSync(at('calls'));
    t.match(ran.stdout.replaceAll('\n', ' '), `${saved.length} files named NUMBER-STEP-SIDE.opus.`);
    t.ok(saved.length >= 6, saved.join());
    for (const name of saved) {
      t.match(name, /^\d{3}-[a-z-]+-(kit|sandbox)\.opus$/);
      const call = report.calls?.find(({ exchange }) => exchange === Number(name.slice(0, 3)));
      t.equal(call?.step.replaceAll(/\W+/g, '-'), name.slice(4).replace(/-[a-z]+\.opus$/, ''));
      t.ok(readOgg(readFileSync(join(at('calls'), name))).length > 0, name);
    }
  },
);

void t.test('doctor opens the WebSocket, and --voice-url sets another address', async (t) => {
  const agent = await withAgent(t);
  const healthy = await run(['doctor', agent.url]);
  t.match(healthy.stdout, /GET \/voice +101, ended by the kit +\d+ ms\n/);
  t.match(
    healthy.stdout,
    /\n {2}Not tried {2}calls\n {2}To try +(npx )?sandbox-kit check \S+ --area voice\n/,
  );
  const withoutVoice = await withAgent(t, { voice: null });
  const voiceUrl = agent.voiceUrl ?? '';
  const args = ['doctor', withoutVoice.url, '--area', 'voice'];
  t.match((await run(args)).stdout, /No voice endpoint found[^]*--voice-url/);
  t.equal((await run([...args, '--voice-url', voiceUrl])).code, 0);
  const wrongScheme = await run([
    'check',
    withoutVoice.url,
    '--voice-url',
    'http://127.0.0.1/voice',
  ]);
  t.match(wrongScheme, { code: 2, stderr: /--voice-url must be the URL of a WebSocket/ });
  const foreign = await run(['check', withoutVoice.url, '--media-address', '192.0.2.77']);
  assertUsageError(
    t,
    foreign,
    /--media-address must be an address of this machine \(127\.0\.0\.1, .*got "192\.0\.2\.77"/,
  );
});
