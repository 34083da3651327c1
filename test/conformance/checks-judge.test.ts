/** Rules that hold for the judgment of any recording. */
import t, { type Test } from 'tap';
import type { Suite } from '../../conformance/engine/area.ts';
import type { Check } from '../../conformance/engine/checks/check.ts';
import {
  areas,
  planCheck,
  readTranscript,
  reportOf,
  writeTranscript,
} from '../../conformance/index.ts';
import type { RequirementId } from '../../conformance/engine/requirement.ts';
import { judgeTranscript } from '../../conformance/engine/judge/judge.ts';
import {
  areaOf,
  requirements,
  requirementIds,
  sandboxSuite,
} from '../../conformance/areas/index.ts';
import statements from '../../conformance/statements.json' with { type: 'json' };
import { isAccepted } from '../../conformance/engine/transcript/reading.ts';
import { toExchange, type Transcript } from '../../conformance/engine/transcript/transcript.ts';
import { startAgent } from '../../reference-agent/index.ts';
import type { Area, ExchangeRecord } from '../../src/contract/index.ts';
import { randomSeed, seededRandom, type Random } from '../../src/platform/random.ts';
import { recordRun } from '../support/conformance/checked-service.ts';
import { assertEvidence } from '../support/conformance/verdicts.ts';
import { damageJson, randomJson } from '../support/contract/random-json.ts';
import { atNight } from '../support/nightly.ts';

const prompts = ['Where is my order A-1001?', 'What are your opening hours?'];

/** The run against the reference agent that all tests share. */
let sharedRun: Promise<Transcript> | undefined;
const recordOnce = (): Promise<Transcript> => (sharedRun ??= recordAgent());

async function recordAgent(): Promise<Transcript> {
  const agent = await startAgent();
  const settings = { areas, apiKey: undefined, prompts };
  return recordRun({ url: agent.url, apiKey: '' }, settings).finally(() => agent.stop());
}

/** Returns the recording with every record changed. */
function changeRecords(
  { run, exchanges }: Transcript,
  change: (record: ExchangeRecord) => ExchangeRecord,
): Transcript {
  return {
    run,
    exchanges: exchanges.map(({ json, sent, ...record }) => toExchange(change(record))),
  };
}

const subsets: Area[][] = areas.reduce<Area[][]>(
  (subsets, area) => [...subsets, ...subsets.map((subset) => [...subset, area])],
  [[]],
);

void t.test('an empty recording is not judged, for every selection of areas', async (t) => {
  const { run } = await recordOnce();
  for (const selected of subsets) {
    const judgment = judgeTranscript(sandboxSuite, {
      run: { ...run, areas: selected },
      exchanges: [],
    });
    t.equal(judgment.counts.pass, 0, selected.join());
    t.equal(judgment.exitCode, 3, `${selected.join() || 'no area'}: exit 3`);
    t.equal(judgment.verdict, 'not-judged');
  }
});

void t.test('a run without areas never exits 0', async (t) => {
  const { run, exchanges } = await recordOnce();
  t.equal(judgeTranscript(sandboxSuite, { run: { ...run, areas: [] }, exchanges }).exitCode, 3);
});

/** Returns the sandbox suite with a part of one check replaced. */
function withCheck(id: RequirementId, part: Partial<Check>): Suite {
  const { [id]: check, ...others } = sandboxSuite.checks;
  if (!check) throw new Error(`No check has the id ${id}`);
  return { ...sandboxSuite, checks: { ...others, [id]: { ...check, ...part } } };
}

void t.test('a check that throws is an error of the kit', async (t) => {
  const transcript = await recordOnce();
  const boom = (): never => {
    throw new Error('boom');
  };
  const some = requirementIds.filter((_, index) => index % atNight(1, 15) === 0);
  for (const id of some) {
    const judgment = judgeTranscript(withCheck(id, { evidence: boom }), transcript);
    t.match(judgment.requirements.get(id), { verdict: 'error', reason: 'boom' });
    t.match(judgment, { verdict: 'not-judged', exitCode: 70, counts: { error: 1 } }, id);
  }
  const [id] = requirementIds;
  if (id === undefined) return;
  const inJudge = judgeTranscript(withCheck(id, { judge: boom }), transcript);
  t.equal(inJudge.exitCode, 70, 'in `judge`, too');
  const silent = { evidence: () => [], judge: () => [], unjudged: boom };
  const inUnjudged = judgeTranscript(withCheck(id, silent), transcript);
  t.equal(inUnjudged.exitCode, 70, 'in `unjudged`, too');
});

void t.test('every pass has evidence, even in the report', async (t) => {
  const transcript = await recordOnce();
  for (const [id, judged] of judgeTranscript(sandboxSuite, transcript).requirements) {
    if (judged.verdict === 'pass') t.ok(judged.evidence.length > 0, id);
  }
  for (const { id, verdict, evidence } of reportOf(transcript, transcript.run.startedAt)
    .requirements) {
    if (verdict === 'pass') t.ok(evidence.length > 0, `${id} in the report`);
  }
});

void t.test('a refusal is not judged if its control was not accepted', async (t) => {
  const transcript = await recordOnce();
  const refusals = requirementIds.filter((id) =>
    /^CHAT-06|^USERS-06[0-6]|^USERS-075|^VOICE-004/.test(id),
  );
  const controls = new Set(transcript.exchanges.map(({ control }) => control));
  const refusedControl = changeRecords(transcript, (record) =>
    controls.has(record.id)
      ? { ...record, response: { status: 400, headers: {}, body: '{}' } }
      : record,
  );
  const missingControl = {
    ...transcript,
    exchanges: transcript.exchanges.filter(({ id }) => !controls.has(id)),
  };
  for (const transcript of [refusedControl, missingControl]) {
    const { requirements: judged, exitCode } = judgeTranscript(sandboxSuite, transcript);
    for (const id of refusals) t.equal(judged.get(id)?.verdict, 'blocked', id);
    t.not(exitCode, 0);
  }
});

void t.test('every requirement cites existing sections and statements', (t) => {
  const sections = new Set(statements.map(({ section }) => section));
  const ids = new Set(statements.map(({ id }) => id));
  for (const [id, row] of Object.entries(requirements)) {
    t.ok(sections.has(row.section), `${id} cites section ${row.section}`);
    t.ok(row.statements.length > 0, `${id} covers a statement`);
    for (const statement of row.statements) t.ok(ids.has(statement), `${id} cites ${statement}`);
  }
  t.end();
});

void t.test('a recording gets the same verdicts as the run', async (t) => {
  const transcript = await recordOnce();
  const text = writeTranscript(transcript);
  const again = readTranscript(text);
  t.equal(writeTranscript(again), text, 'reading and writing keeps the text');
  const { startedAt } = transcript.run;
  t.same(reportOf(again, startedAt), reportOf(transcript, startedAt), 'the report is the same');
});

void t.test('a probe yields evidence for every requirement that it exercises', async (t) => {
  assertEvidence(t, sandboxSuite, await recordOnce());
});

void t.test('a probe sends exactly the requests that its cost declares', async (t) => {
  const { exchanges } = await recordOnce();
  for (const { probe: planned, cost: declared } of planCheck({ prompts }).probes) {
    const { id, area } = planned;
    const own = exchanges.filter(
      ({ probe, endpoint }) =>
        probe === id &&
        (area === 'users'
          ? !/chat|health|voice/.test(endpoint)
          : endpoint === area || id === 'voice/after' || id === 'chat/overlap'),
    );
    const chats = own.filter(({ endpoint, intent }) => endpoint === 'chat' && intent !== 'refuse');
    const turns = own.flatMap(({ call }) => call?.events.filter(({ kind }) => kind === 'speech'));
    const modelCalls = [...chats, ...turns.filter((turn) => turn !== undefined)];
    const calls = own.filter(({ endpoint }) => endpoint === 'voice');
    t.equal(calls.length, declared.calls, `${id} of ${area}: calls`);
    const created = own.filter(
      (exchange) => exchange.endpoint === 'create' && isAccepted(exchange),
    );
    // The number of users to delete depends on which optional ones the sandbox created.
    if (id === 'users/cleanup') t.ok(own.length <= declared.requests, `${id}: requests`);
    else t.equal(own.length, declared.requests, `${id} of ${area}: requests`);
    t.equal(modelCalls.length, declared.modelCalls, `${id} of ${area}: model calls`);
    t.ok(created.length <= declared.users, `${id} of ${area}: users`);
  }
});

void t.test('a default run sends at most 170 requests, 50 of which reach a model', (t) => {
  const { modelCalls, requests } = planCheck({ areas: ['chat', 'health', 'users'] });
  t.ok(modelCalls > 0 && modelCalls <= 50 && requests <= 170, `${modelCalls} of ${requests}`);
  t.end();
});

/** Judges a transcript and asserts that no check throws. */
function testNoError(t: Test, transcript: Transcript, label: string): void {
  const report = reportOf(transcript, transcript.run.startedAt);
  const errors = report.requirements.filter(({ verdict }) => verdict === 'error');
  t.same(errors, [], `${label}: no check throws`);
  t.not(report.exitCode, 70, label);
}

const anyStatus = (random: Random): number => random.integer(200, 599);

/** Replaces or damages the response at random, or replaces it by a failure. */
function changeResponse(record: ExchangeRecord, random: Random): ExchangeRecord {
  const { response, ...request } = record;
  const body = response?.body ?? '{}';
  const headers = response?.headers ?? {};
  switch (random.integer(0, 5)) {
    case 0:
      return record;
    case 1:
      return { ...request, response: { status: anyStatus(random), headers: {}, body } };
    case 2:
      return { ...request, response: { status: 200, headers, body: randomJson(random) } };
    case 3:
      return {
        ...request,
        response: { status: anyStatus(random), headers, body: randomJson(random) },
      };
    case 4:
      return { ...request, failure: { kind: 'reset', message: randomJson(random) } };
    default:
      return { ...request, response: { status: 200, headers, body: damageJson(body, random) } };
  }
}

/** Changes or drops messages and packets of a call at random. */
function changeCall(record: ExchangeRecord, random: Random): ExchangeRecord {
  if (!record.call) return record;
  const { events, media } = record.call;
  const changedEvents = events.flatMap((event) => {
    if (event.text === undefined || random.integer(0, 3) > 0) return [event];
    const text = random.integer(0, 1) === 0 ? randomJson(random) : damageJson(event.text, random);
    return random.integer(0, 4) === 0 ? [] : [{ ...event, text }];
  });
  const packets = (media?.packets ?? []).map((packet) => ({
    ...packet,
    sequence: random.integer(0, 65_535),
    timestamp: random.integer(0, 2 ** 32 - 1),
  }));
  const scrambled = media && random.integer(0, 1) === 0 ? { ...media, packets } : media;
  const kept = random.integer(0, 9) > 0 && scrambled ? { media: scrambled } : {};
  return { ...record, call: { events: changedEvents, ...kept } };
}

void t.test('no check throws for a randomly damaged recording', async (t) => {
  const transcript = await recordOnce();
  const seed = atNight(randomSeed(), 'push');
  t.comment(`seed ${seed}`);
  for (let round = 1; round <= atNight(60, 3); round++) {
    const random = seededRandom(`${seed}/${round}`);
    const label = `seed ${seed}, round ${round}`;
    const responses = changeRecords(transcript, (record) => changeResponse(record, random));
    testNoError(t, responses, label);
    const damagedBodies = changeRecords(transcript, (record) =>
      record.response
        ? {
            ...record,
            response: { ...record.response, body: damageJson(record.response.body, random) },
          }
        : record,
    );
    testNoError(t, damagedBodies, `${label}, damaged bodies`);
    const requests = changeRecords(transcript, (record) => ({
      ...record,
      request: {
        ...record.request,
        path: random.integer(0, 1) === 0 ? '/users/%E0%A4%A' : record.request.path,
        body: randomJson(random),
      },
    }));
    testNoError(t, requests, `${label}, changed requests`);
    const calls = changeRecords(transcript, (record) => changeCall(record, random));
    testNoError(t, calls, `${label}, changed calls`);
  }
});

void t.test('no check throws for an id with half of a surrogate pair', async (t) => {
  const transcript = await recordOnce();
  const sent = JSON.stringify({ user_id: 'half \ud83d', session_id: 'half \ud83d' });
  const changed = changeRecords(transcript, (record) => ({
    ...record,
    request: { ...record.request, body: sent },
  }));
  testNoError(t, changed, 'half of a surrogate pair');
});

void t.test('no combination of response status and body makes a check throw', async (t) => {
  const transcript = await recordOnce();
  const statuses = atNight([100, 200, 204, 302, 400, 401, 404, 422, 429, 500, 503], [200]);
  const bodies = ['', ' ', 'null', '0', '""', '[]', '{}', '[null]', '{"choices":[[]]}', '\u0000'];
  for (const body of bodies) {
    for (const status of statuses) {
      const all = changeRecords(transcript, (record) => ({
        ...record,
        response: { status, headers: {}, body },
      }));
      testNoError(t, all, `${status} ${JSON.stringify(body)}`);
    }
  }
  for (const target of ['not a URL', '', 'https://sandbox.example', 'http://[::1]:80']) {
    testNoError(t, { ...transcript, run: { ...transcript.run, target } }, `target ${target}`);
  }
});

void t.test('the id of every requirement names its area', (t) => {
  for (const id of requirementIds) t.ok(areas.includes(areaOf(id)), id);
  t.end();
});
