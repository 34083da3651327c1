/** Every request has a `traceparent`, and every failure shows the trace id of its request. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { CheckReport, LoadReport, SimulationReport } from '../../src/contract/index.ts';
import { createTraceparents, traceIdOf } from '../../src/platform/trace-context.ts';
import { run } from '../support/commands/command.ts';
import {
  closesCalls,
  reply,
  respondToAll,
  respondWith,
  withoutUsers,
  withSandboxDouble,
  type SandboxDouble,
} from '../support/sandboxes/sandbox-double.ts';

const TRACEPARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-01$/;

/** Asserts that every request has a different `traceparent`, and returns the trace ids. */
function assertTraced(t: Test, sandbox: SandboxDouble): string[] {
  const values = sandbox.valuesOf('traceparent');
  t.ok(values.length > 0 && values.every((value) => TRACEPARENT.test(value)), 'all are valid');
  t.equal(values.length, sandbox.requests.length, 'every request has one');
  const ids = values.map((value) => traceIdOf(value) ?? '');
  t.equal(new Set(ids).size, ids.length, 'each request has a different trace id');
  return ids;
}

void t.test('trace contexts depend only on the seed, the name, and its repetition', (t) => {
  const [one, again, other] = ['a', 'a', 'b'].map(createTraceparents);
  if (!one || !again || !other) throw new Error('unreachable');
  t.equal(one('chat'), again('chat'));
  t.equal(one('chat'), again('chat'), 'the second request has the same ids in both runs');
  t.not(one('chat'), one('chat'));
  t.not(one('chat'), other('chat'));
  t.match(one('chat'), TRACEPARENT);
  t.equal(traceIdOf('nonsense'), undefined);
  t.end();
});

void t.test('check: every report shows the trace id of a failure', async (t) => {
  const choices = [{ message: { role: 'assistant', content: null } }];
  const chat = respondWith(200, { choices });
  const sandbox = await withSandboxDouble(t, { ...withoutUsers, chat });
  const directory = t.testdir({});
  const file = (name: string): string => join(directory, name);
  const read = (name: string): string => readFileSync(file(name), 'utf8');
  const args = ['check', sandbox.url, '--area', 'chat,health', '--seed', 'traces'];
  const views = ['json', 'junit', 'markdown', 'html', 'record'];
  const outputs = views.flatMap((view) => [`--${view}`, file(view)]);
  const ran = await run([...args, '--verbose', ...outputs]);
  t.equal(ran.code, 1, ran.stderr);
  const ids = assertTraced(t, sandbox);
  const { requirements } = JSON.parse(read('json')) as CheckReport;
  const failed = requirements.filter(({ verdict }) => verdict === 'fail');
  t.ok(failed.length > 0);
  for (const { id, evidence, curl = '' } of failed) {
    const traceId = evidence[0]?.traceId ?? 'none';
    t.ok(ids.includes(traceId), `${id}: the sandbox received the trace id`);
    for (const view of ['junit', 'markdown', 'html']) t.ok(read(view).includes(traceId), view);
    t.ok(ran.stdout.includes(`trace id  ${traceId}`), 'terminal');
    t.notMatch(curl, /traceparent/, 'a repeated request starts a new trace');
  }
  const graded = await run(['grade', file('record'), '--json', file('graded')]);
  t.equal(graded.code, 1);
  const inCause = /^ {4}example {3}(?:.+\n {4})+?trace id {2}([0-9a-f]{32})$/m;
  const [, example = 'none'] = inCause.exec(graded.stdout) ?? [];
  t.ok(ids.includes(example), 'the example of a cause');
  const again = JSON.parse(read('graded')) as CheckReport;
  t.same(again.requirements, requirements, 'a recording keeps the trace ids');

  const second = await withSandboxDouble(t, { ...withoutUsers, chat });
  await run(['check', second.url, '--area', 'chat,health', '--seed', 'traces']);
  t.same(assertTraced(t, second).sort(), ids.sort(), 'the same seed gives the same trace ids');
});

void t.test(
  'check: a cause names its trace id, but not for a request that was never sent',
  async (t) => {
    const refusal = respondWith(401, { error: 'who are you?' });
    const sandbox = await withSandboxDouble(t, respondToAll(refusal));
    const ran = await run(['check', sandbox.url, '--area', 'chat', '--junit', '-']);
    t.equal(ran.code, 3);
    const [, traceId = 'none'] = /Trace id ([0-9a-f]{32})/.exec(ran.stderr) ?? [];
    t.ok(assertTraced(t, sandbox).includes(traceId));
    t.ok(ran.stdout.includes(`trace id ${traceId}`), 'JUnit');
    const none = await run(['check', 'http://127.0.0.1:1', '--area', 'chat', '--json', '-']);
    t.equal(none.code, 3);
    t.notMatch(none.stdout + none.stderr, /trace ?id/i);
  },
);

void t.test('check: the request of a voice WebSocket has a traceparent', async (t) => {
  const sandbox = await withSandboxDouble(t, withoutUsers, closesCalls);
  await run(['check', sandbox.url, '--area', 'voice']);
  assertTraced(t, sandbox);
  t.ok(sandbox.requests.some(({ route }) => route === 'call'));
});

void t.test('load: every request has a traceparent, and examples show the trace id', async (t) => {
  let count = 0;
  const sandbox = await withSandboxDouble(t, {
    ...withoutUsers,
    chat: (...args) => (count++ % 7 === 6 ? respondWith(503, 'busy') : reply('Hello.'))(...args),
  });
  const directory = t.testdir({});
  const views = ['json', 'junit', 'markdown', 'html'];
  const ran = await run([
    ...['load', sandbox.url, '--profile', 'chat', '--rate', '20', '--duration', '1s'],
    ...views.flatMap((view) => [`--${view}`, join(directory, view)]),
  ]);
  const ids = assertTraced(t, sandbox);
  const read = (name: string): string => readFileSync(join(directory, name), 'utf8');
  const { slowest = [], faultSamples } = JSON.parse(read('json')) as LoadReport;
  t.equal(slowest.length, 5);
  t.same(
    slowest.map(({ responseMs }) => responseMs),
    slowest.map(({ responseMs }) => responseMs).sort((a, b) => b - a),
    'slowest first',
  );
  const [first] = faultSamples;
  t.equal(first?.kind, 'server_error');
  for (const traceId of [slowest[0]?.traceId ?? 'none', first?.traceId ?? 'none']) {
    t.ok(ids.includes(traceId));
    for (const view of ['markdown', 'html']) t.ok(read(view).includes(traceId), view);
    t.ok(ran.stdout.replaceAll(/\s+/g, ' ').includes(`trace id ${traceId}`), 'terminal');
  }
});

void t.test('load: a failed call shows the trace id of its WebSocket request', async (t) => {
  const sandbox = await withSandboxDouble(t, withoutUsers, closesCalls);
  const ran = await run([
    ...['load', sandbox.url, '--profile', 'voice', '--calls', '2', '--duration', '1s', '--json=-'],
  ]);
  const ids = assertTraced(t, sandbox);
  const { voice } = JSON.parse(ran.stdout) as LoadReport;
  const [sample] = voice?.faultSamples ?? [];
  t.ok(ids.includes(sample?.traceId ?? 'none'), JSON.stringify(voice?.faultSamples));
  t.ok(ran.stderr.replaceAll(/\s+/g, ' ').includes(`trace id ${sample?.traceId}`));
});

void t.test('simulate: a failed session shows the trace id of its last request', async (t) => {
  let count = 0;
  const sandbox = await withSandboxDouble(t, {
    ...withoutUsers,
    chat: (...args) => (count++ > 0 ? respondWith(500, 'broken') : reply('Hello.'))(...args),
  });
  const directory = t.testdir({});
  const ran = await run([
    ...['simulate', sandbox.url, '--scenario', 'follow-up', '--seed', 'traces'],
    ...['--json', join(directory, 'json'), '--junit', join(directory, 'junit')],
  ]);
  t.not(ran.code, 0);
  const ids = assertTraced(t, sandbox);
  const report = JSON.parse(readFileSync(join(directory, 'json'), 'utf8')) as SimulationReport;
  const [session] = report.sessions;
  const traceIds = session?.trace_ids ?? [];
  t.same(ids.slice(-traceIds.length), traceIds, 'all requests of the session, in order');
  t.ok(ran.stdout.includes(`Trace id of the last request: ${traceIds.at(-1)}`));
  t.match(readFileSync(join(directory, 'junit'), 'utf8'), traceIds.at(-1));
});
