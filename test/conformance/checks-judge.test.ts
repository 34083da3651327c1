/** What holds of the judge whatever it is given: over recordings, without a network. */
import t, { type Test } from 'tap';
import type { Suite } from '../../conformance/engine/area.ts';
import type { Check } from '../../conformance/engine/checks/check.ts';
import { runProbes } from '../../conformance/engine/drive/run.ts';
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
import { systemClock } from '../../src/platform/clock.ts';
import { damageJson, randomJson } from '../helpers/random-json.ts';

const prompts = ['Where is my order A-1001?', 'What are your opening hours?'];

// A run with calls takes as long as it takes to speak.
/** A run against the reference agent, the same for every test that needs one. */
let run: Promise<Transcript> | undefined;
const recorded = (): Promise<Transcript> => (run ??= driven());

async function driven(): Promise<Transcript> {
  const agent = await startAgent();
  const transcript = await runProbes(sandboxSuite, {
    target: agent.url,
    areas,
    apiKey: undefined,
    ca: undefined,
    seed: 'recorded',
    kitVersion: 'test',
    clock: systemClock,
    concurrency: 4,
    ratePerSecond: undefined,
    timeoutMs: 30_000,
    allowHttp: false,
    prompts,
    preflightOnly: false,
    onExchange() {},
  });
  await agent.stop();
  return transcript;
}

/** The recording with every record changed, read anew. */
function changed(
  { run, exchanges }: Transcript,
  change: (record: ExchangeRecord) => ExchangeRecord,
): Transcript {
  return {
    run,
    exchanges: exchanges.map(({ json, sent, ...record }) => toExchange(change(record))),
  };
}

const subsets: Area[][] = areas.reduce<Area[][]>(
  (all, area) => [...all, ...all.map((some) => [...some, area])],
  [[]],
);

void t.test('nothing recorded is nothing judged, for every choice of areas', async (t) => {
  const { run } = await recorded();
  for (const chosen of subsets) {
    const judgement = judgeTranscript(sandboxSuite, {
      run: { ...run, areas: chosen },
      exchanges: [],
    });
    t.equal(judgement.counts.pass, 0, chosen.join());
    t.equal(judgement.exitCode, 3, `${chosen.join() || 'no area'}: exit 3`);
    t.equal(judgement.verdict, 'not-judged');
  }
});

void t.test('a run of no area is never green, whatever was recorded', async (t) => {
  const { run, exchanges } = await recorded();
  t.equal(judgeTranscript(sandboxSuite, { run: { ...run, areas: [] }, exchanges }).exitCode, 3);
});

/** The sandbox suite with a part of one check replaced. */
function withCheck(id: RequirementId, part: Partial<Check>): Suite {
  const { [id]: check, ...others } = sandboxSuite.checks;
  if (!check) throw new Error(`No check has the id ${id}`);
  return { ...sandboxSuite, checks: { ...others, [id]: { ...check, ...part } } };
}

void t.test('a check that throws is the fault of the kit', async (t) => {
  const transcript = await recorded();
  const boom = (): never => {
    throw new Error('boom');
  };
  for (const id of requirementIds) {
    const judgement = judgeTranscript(withCheck(id, { evidence: boom }), transcript);
    t.match(judgement.requirements.get(id), { verdict: 'error', reason: 'boom' });
    t.match(judgement, { verdict: 'not-judged', exitCode: 70, counts: { error: 1 } }, id);
  }
  const [id] = requirementIds;
  if (id === undefined) return;
  const inJudge = judgeTranscript(withCheck(id, { judge: boom }), transcript);
  t.equal(inJudge.exitCode, 70, 'in judge, too');
  const silent = { evidence: () => [], judge: () => [], unjudged: boom };
  const inUnjudged = judgeTranscript(withCheck(id, silent), transcript);
  t.equal(inUnjudged.exitCode, 70, 'in unjudged, too');
});

void t.test('a pass rests on an exchange, and a report names it', async (t) => {
  const transcript = await recorded();
  for (const [id, judged] of judgeTranscript(sandboxSuite, transcript).requirements) {
    if (judged.verdict === 'pass') t.ok(judged.evidence.length > 0, id);
  }
  for (const { id, verdict, evidence } of reportOf(transcript, transcript.run.startedAt)
    .requirements) {
    if (verdict === 'pass') t.ok(evidence.length > 0, `${id} in the report`);
  }
});

void t.test('a refusal proves nothing where its control was not accepted', async (t) => {
  const transcript = await recorded();
  const refusals = requirementIds.filter((id) =>
    /^CHAT-06|^USERS-06|^USERS-075|^VOICE-004/.test(id),
  );
  const controls = new Set(transcript.exchanges.map(({ control }) => control));
  const refusedControl = changed(transcript, (record) =>
    controls.has(record.id)
      ? { ...record, response: { status: 400, headers: {}, body: '{}' } }
      : record,
  );
  const lostControl = {
    ...transcript,
    exchanges: transcript.exchanges.filter(({ id }) => !controls.has(id)),
  };
  for (const without of [refusedControl, lostControl]) {
    const { requirements: judged, exitCode } = judgeTranscript(sandboxSuite, without);
    for (const id of refusals) t.equal(judged.get(id)?.verdict, 'blocked', id);
    t.not(exitCode, 0);
  }
});

void t.test('every row of the ledger cites statements that exist', (t) => {
  const sections = new Set(statements.map(({ section }) => section));
  const ids = new Set(statements.map(({ id }) => id));
  for (const [id, row] of Object.entries(requirements)) {
    t.ok(sections.has(row.section), `${id} cites section ${row.section}`);
    t.ok(row.statements.length > 0, `${id} covers a statement`);
    for (const statement of row.statements) t.ok(ids.has(statement), `${id} cites ${statement}`);
  }
  t.end();
});

void t.test('a recording that is read again is judged alike', async (t) => {
  const transcript = await recorded();
  const text = writeTranscript(transcript);
  const again = readTranscript(text);
  t.equal(writeTranscript(again), text, 'it is written as it was');
  const { startedAt } = transcript.run;
  t.same(reportOf(again, startedAt), reportOf(transcript, startedAt), 'the report is the same');
});

void t.test('a scenario leaves the evidence that it declares', async (t) => {
  const { requirements: judged } = judgeTranscript(sandboxSuite, await recorded());
  for (const { id, area, exercises } of sandboxSuite.probes) {
    for (const requirement of exercises) {
      const found = judged.get(requirement);
      const evidence = found && 'evidence' in found ? found.evidence : [];
      const isOwn = evidence.some(({ probe }) => probe === id);
      t.ok(isOwn, `${id} of ${area} exercises ${requirement}`);
    }
  }
});

void t.test('a scenario costs what it declares', async (t) => {
  const { exchanges } = await recorded();
  for (const { id, area, cost } of sandboxSuite.probes) {
    const own = exchanges.filter(
      ({ probe, endpoint }) =>
        probe === id &&
        (area === 'users'
          ? !/chat|health|voice/.test(endpoint)
          : endpoint === area || id === 'voice/after'),
    );
    const declared = cost(prompts);
    const chats = own.filter((one) => one.endpoint === 'chat' && one.intent !== 'refuse');
    const turns = own.flatMap(({ call }) => call?.events.filter(({ kind }) => kind === 'speech'));
    const modelCalls = [...chats, ...turns.filter((one) => one !== undefined)];
    const calls = own.filter(({ endpoint }) => endpoint === 'voice');
    t.equal(calls.length, declared.calls, `${id} of ${area}: calls`);
    const created = own.filter((one) => one.endpoint === 'create' && isAccepted(one));
    // What there is to delete depends on what the sandbox created where it need not.
    if (id === 'users/cleanup') t.ok(own.length <= declared.requests, `${id}: requests`);
    else t.equal(own.length, declared.requests, `${id} of ${area}: requests`);
    t.equal(modelCalls.length, declared.modelCalls, `${id} of ${area}: model calls`);
    t.ok(created.length <= declared.users, `${id} of ${area}: users`);
  }
});

void t.test('a default run sends at most 40 chat requests that reach a model', (t) => {
  const { modelCalls, requests } = planCheck({ areas: ['chat', 'health', 'users'] });
  t.ok(modelCalls > 0 && modelCalls <= 40, `${modelCalls} of ${requests}`);
  t.end();
});

/** Judges, and holds what must hold of every judgement. */
function holds(t: Test, transcript: Transcript, says: string): void {
  const report = reportOf(transcript, transcript.run.startedAt);
  const broken = report.requirements.filter(({ verdict }) => verdict === 'error');
  t.same(broken, [], `${says}: no check throws, and it is reported`);
  t.not(report.exitCode, 70, says);
}

const anyStatus = (chance: Random): number => chance.integer(200, 599);

/** Something else than what was answered, or nothing at all. */
function otherAnswer(record: ExchangeRecord, chance: Random): ExchangeRecord {
  const { response, ...asked } = record;
  const body = response?.body ?? '{}';
  const headers = response?.headers ?? {};
  switch (chance.integer(0, 5)) {
    case 0:
      return record;
    case 1:
      return { ...asked, response: { status: anyStatus(chance), headers: {}, body } };
    case 2:
      return { ...asked, response: { status: 200, headers, body: randomJson(chance) } };
    case 3:
      return {
        ...asked,
        response: { status: anyStatus(chance), headers, body: randomJson(chance) },
      };
    case 4:
      return { ...asked, failure: { kind: 'reset', message: randomJson(chance) } };
    default:
      return { ...asked, response: { status: 200, headers, body: damageJson(body, chance) } };
  }
}

/** Other things said in a call, some of them not at all, and other sound. */
function otherCall(record: ExchangeRecord, chance: Random): ExchangeRecord {
  if (!record.call) return record;
  const { events, media } = record.call;
  const said = events.flatMap((event) => {
    if (event.text === undefined || chance.integer(0, 3) > 0) return [event];
    const text = chance.integer(0, 1) === 0 ? randomJson(chance) : damageJson(event.text, chance);
    return chance.integer(0, 4) === 0 ? [] : [{ ...event, text }];
  });
  const packets = (media?.packets ?? []).map((packet) => ({
    ...packet,
    sequence: chance.integer(0, 65_535),
    timestamp: chance.integer(0, 2 ** 32 - 1),
  }));
  const scrambled = media && chance.integer(0, 1) === 0 ? { ...media, packets } : media;
  const kept = chance.integer(0, 9) > 0 && scrambled ? { media: scrambled } : {};
  return { ...record, call: { events: said, ...kept } };
}

void t.test('checks are total: no recording makes one throw', async (t) => {
  const transcript = await recorded();
  const seed = randomSeed();
  t.comment(`seed ${seed}`);
  for (let round = 1; round <= 60; round++) {
    const chance = seededRandom(`${seed}/${round}`);
    const says = `seed ${seed}, round ${round}`;
    const answers = changed(transcript, (record) => otherAnswer(record, chance));
    holds(t, answers, says);
    const answersAlone = changed(transcript, (record) =>
      record.response
        ? {
            ...record,
            response: { ...record.response, body: damageJson(record.response.body, chance) },
          }
        : record,
    );
    holds(t, answersAlone, `${says}, damaged answers`);
    const requests = changed(transcript, (record) => ({
      ...record,
      request: {
        ...record.request,
        path: chance.integer(0, 1) === 0 ? '/users/%E0%A4%A' : record.request.path,
        body: randomJson(chance),
      },
    }));
    holds(t, requests, `${says}, other requests`);
    const calls = changed(transcript, (record) => otherCall(record, chance));
    holds(t, calls, `${says}, other calls`);
  }
});

void t.test('checks are total: what the answer is does not matter', async (t) => {
  const transcript = await recorded();
  const bodies = ['', ' ', 'null', '0', '""', '[]', '{}', '[null]', '{"choices":[[]]}', '\u0000'];
  for (const body of bodies) {
    for (const status of [100, 200, 204, 302, 400, 401, 404, 422, 429, 500, 503]) {
      const all = changed(transcript, (record) => ({
        ...record,
        response: { status, headers: {}, body },
      }));
      holds(t, all, `${status} ${JSON.stringify(body)}`);
    }
  }
  for (const target of ['not a URL', '', 'https://sandbox.example', 'http://[::1]:80']) {
    holds(t, { ...transcript, run: { ...transcript.run, target } }, `target ${target}`);
  }
});

void t.test('every requirement is of the area that its id names', (t) => {
  for (const id of requirementIds) t.ok(areas.includes(areaOf(id)), id);
  t.end();
});
