/** Checks of the service: verdicts for conforming services, foreign services, and other servers. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { judgeTranscript } from '../../conformance/engine/judge/judge.ts';
import { check, reportOf } from '../../conformance/index.ts';
import {
  requirement,
  serviceRequirementIds,
  serviceSuite,
  untestable,
} from '../../conformance/areas/index.ts';
import {
  isControlRequest,
  notFound,
} from '../../conformance/areas/service/control-api/foreign-service.ts';
import { chain, respondInstead } from '../../conformance/engine/mutants/combinators.ts';
import statements from '../../conformance/statements.json' with { type: 'json' };
import {
  readTranscript,
  toExchange,
  writeTranscript,
  type Exchange,
  type Transcript,
} from '../../conformance/engine/transcript/transcript.ts';
import { findViolations, type CheckReport } from '../../src/contract/index.ts';
import { isObject } from '../../src/platform/json.ts';
import { randomSeed, seededRandom } from '../../src/platform/random.ts';
import { assertUsageError, run } from '../support/commands/command.ts';
import { runProcess } from '../support/commands/command-process.ts';
import { assertEvidence, idsJudged } from '../support/conformance/verdicts.ts';
import { recordRun } from '../support/conformance/checked-service.ts';
import { recordServiceOnce } from '../support/conformance/recorded-runs.ts';
import { damageJson, randomJson } from '../support/contract/random-json.ts';
import { NOWHERE } from '../support/network/local-server.ts';
import { atNight } from '../support/nightly.ts';
import { ROOT } from '../support/repository.ts';
import { changeText, withDistortion } from '../support/sandboxes/distortions.ts';
import { withReferenceAgent } from '../support/sandboxes/reference-agent.ts';
import { withStartedService } from '../support/services/started-service.ts';

/** A service without a control API. */
const withoutControl = respondInstead(isControlRequest(''), notFound);

void t.test('every statement of area A has a requirement or a reason why it is untestable', (t) => {
  const covered = new Set(serviceRequirementIds.flatMap((id) => requirement(id).statements));
  const reasoned = new Set(untestable.flatMap((row) => row.statements));
  for (const { id, area } of statements) {
    if (area === 'A') t.ok(covered.has(id) !== reasoned.has(id), `${id} is covered once`);
  }
  t.end();
});

void t.test('the reference service conforms, and every requirement is judged', async (t) => {
  const { transcript } = await recordServiceOnce();
  const judgment = judgeTranscript(serviceSuite, transcript);
  t.equal(judgment.verdict, 'conforming');
  t.same([...judgment.requirements.keys()], serviceRequirementIds, 'only requirements of area A');
  t.same(idsJudged(judgment, 'pass', 'note'), serviceRequirementIds, 'every requirement is judged');
  const report = reportOf(transcript, transcript.run.startedAt);
  t.same(findViolations('CheckReport', report), []);
  t.match(report.observedBehavior, { 'limit=0': '200', 'a wrong key': '401' });
});

void t.test('a probe yields evidence for every requirement that it exercises', async (t) => {
  const { transcript } = await recordServiceOnce();
  assertEvidence(t, serviceSuite, transcript);
});

void t.test('the cost of a probe is the number of requests that it sends', async (t) => {
  const { exchanges } = (await recordServiceOnce()).transcript;
  for (const { id, cost, intrusive } of serviceSuite.probes) {
    const sent = exchanges.filter(({ probe }) => probe === id).length;
    const { requests } = cost([], 0);
    t.ok(sent <= requests, `${id}: ${sent} of ${requests}`);
    // The number of requests above the rate depends on the service.
    if (!intrusive) t.ok(sent >= requests - 2, `${id}: ${sent} of ${requests}`);
  }
});

/** Lists the fields of a JSON value at every level, as paths such as `/keys`; a star stands for any item. */
function listPaths(value: unknown, at = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => listPaths(item, `${at}/*`));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => [
    `${at}/${key}`,
    ...listPaths(inner, `${at}/${key}`),
  ]);
}

void t.test(
  'the report of a service that does not store seeded runs says what is missing',
  async (t) => {
    const { transcript } = await recordServiceOnce();
    const exchanges = transcript.exchanges.map((exchange) => {
      const { json, sent, response, ...record } = exchange;
      const isMany = exchange.probe === 'service/many' && exchange.endpoint === 'production';
      if (!isMany || !response) return exchange;
      const body = JSON.stringify({ ...(isObject(json) ? json : {}), items: [], total: 0 });
      return toExchange({ ...record, response: { ...response, body } });
    });
    const { requirements } = judgeTranscript(serviceSuite, { run: transcript.run, exchanges });
    for (const id of ['SERVICE-193', 'SERVICE-208'] as const) {
      t.match(requirements.get(id), {
        verdict: 'not_observed',
        reason: /^The service lists no session of `runs` in the seed document/,
        remedy: /^Store `runs` of seed documents in `POST \/__admin\/seed`/,
      });
    }
  },
);

void t.test(
  'docs/check.md lists the control routes that a run uses, and their format',
  async (t) => {
    const page = readFileSync(join(ROOT, 'docs/check.md'), 'utf8');
    const [, section = ''] = page.split('\n### Without a control API\n');
    const { exchanges } = (await recordServiceOnce()).transcript;
    const used = exchanges
      .filter(({ endpoint }) => endpoint === 'admin')
      .map(
        ({ request }) => `${request.method} ${request.path.replace(/\?.*|(?<=\/evals\/).*/g, '')}`,
      );
    const listed = [...section.matchAll(/^\| `([A-Z]+ [^`?]*?)(?:ID)?(?:\?owner=ID)?` \|/gm)];
    t.same([...new Set(used)].sort(), listed.map(([, route]) => route).sort());
    const [, example = ''] = /```json\n([^]*?)```/.exec(section) ?? [];
    const shown: unknown = JSON.parse(example);
    t.same(findViolations('SeedDocument', shown), []);
    const isSeed = ({ request }: Exchange): boolean => request.path.startsWith('/__admin/seed?');
    const sent = exchanges.filter(isSeed).flatMap((exchange) => listPaths(exchange.sent));
    const known = new Set(listPaths(shown));
    t.ok(sent.includes('/runs/*/sessions/*/source_session_id'), 'the run sends runs');
    t.same(
      [...new Set(sent)].filter((path) => !known.has(path)),
      [],
      'the example has every field that the run sends',
    );
  },
);

void t.test('a run without --intrusive sends no large, numerous, or slow requests', async (t) => {
  const transcript = await recordRun(await withStartedService(t), { intrusive: false });
  const judgment = judgeTranscript(serviceSuite, transcript);
  t.equal(judgment.verdict, 'conforming');
  t.same(idsJudged(judgment, 'not_observed'), [
    ...['SERVICE-023', 'SERVICE-024', 'SERVICE-026', 'SERVICE-027', 'SERVICE-028'],
    ...['SERVICE-031', 'SERVICE-058', 'SERVICE-059', 'SERVICE-169', 'SERVICE-193', 'SERVICE-194'],
    ...['SERVICE-208', 'SERVICE-209', 'SERVICE-215', 'SERVICE-216', 'SERVICE-237'],
  ]);
  t.ok(transcript.exchanges.every(({ request }) => request.bodyBytes === undefined));
  t.ok(transcript.exchanges.every(({ request }) => request.path !== '/__admin/clock'));
});

void t.test('requirements that need a control API do not fail without one', async (t) => {
  const service = await withStartedService(t);
  const evals = [{ id: 'parcel', name: 'Parcel', kind: 'contains', params: { text: 'parcel' } }];
  await fetch(`${service.adminUrl}/seed`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ evals, settings: { evals: ['parcel'] } }),
  });
  const url = await withDistortion(t, service.url, withoutControl);
  const transcript = await recordRun({ url, apiKey: service.apiKey }, { intrusive: false });
  const judgment = judgeTranscript(serviceSuite, transcript);
  t.same(idsJudged(judgment, 'fail', 'warn', 'blocked', 'error'), []);
  t.equal(judgment.requirements.get('SERVICE-087')?.verdict, 'pass', 'results are judged');
  t.match(judgment.requirements.get('SERVICE-051'), {
    verdict: 'not_observed',
    reason: /control API/,
  });
});

void t.test('without evals and a control API, closing is judged but results are not', async (t) => {
  const service = await withStartedService(t);
  const url = await withDistortion(t, service.url, withoutControl);
  const judgment = judgeTranscript(
    serviceSuite,
    await recordRun({ url, apiKey: service.apiKey }, { intrusive: false }),
  );
  t.same(idsJudged(judgment, 'fail', 'warn', 'blocked', 'error'), []);
  t.equal(judgment.requirements.get('SERVICE-040')?.verdict, 'pass');
  t.equal(judgment.requirements.get('SERVICE-087')?.verdict, 'not_observed');
});

void t.test('existing sessions with truncated times cause no failure', async (t) => {
  const service = await withStartedService(t);
  const startedAt = (index: number): string =>
    new Date(Date.now() - 7_200_000 - index * 700).toISOString();
  const sessions = Array.from({ length: 9 }, (_, index) => ({
    source_session_id: `s-${index}`,
    scenario: 'late',
    persona: 'calm',
    started_at: startedAt(index),
    turns: [{ user_input: 'Hello?', user_reason: 'greets', agent_response: 'Hello.' }],
    outcomes: [{ eval_name: 'Polite', outcome: index % 2 ? ('pass' as const) : ('fail' as const) }],
  }));
  const seed = {
    runs: [
      {
        name: 'Nightly',
        sessions: sessions.map(({ scenario: _scenario, persona: _persona, ...rest }) => rest),
      },
    ],
    simulations: [
      {
        name: 'Nightly',
        agent: 'Any',
        sessions: sessions.map(({ source_session_id: _id, ...rest }) => rest),
      },
    ],
  };
  const seeded = await fetch(`${service.adminUrl}/seed`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(seed),
  });
  t.equal(seeded.status, 200, await seeded.text());
  const toSeconds = changeText((body) => body.replaceAll(/(:\d\d)\.\d{3}Z/g, '$1Z'));
  const url = await withDistortion(t, service.url, chain(withoutControl, toSeconds));
  const transcript = await recordRun({ url, apiKey: service.apiKey }, { intrusive: false });
  const judgment = judgeTranscript(serviceSuite, transcript);
  t.same(idsJudged(judgment, 'fail', 'warn', 'blocked', 'error'), []);
  t.equal(
    judgment.requirements.get('SERVICE-112')?.verdict,
    'pass',
    'existing sessions are judged',
  );
});

void t.test('a recording gets the same verdicts as the run and contains no key', async (t) => {
  const { transcript, apiKey } = await recordServiceOnce();
  const text = writeTranscript(transcript);
  t.notOk(text.includes(apiKey), 'not the key of the user');
  t.notMatch(text, /sk_check_[a-z0-9]{20}/, 'not a key of the run');
  const again = readTranscript(text);
  const { startedAt } = transcript.run;
  t.same(reportOf(again, startedAt), reportOf(transcript, startedAt));
});

void t.test('no recording makes a check throw', async (t) => {
  const { transcript } = await recordServiceOnce();
  const seed = randomSeed();
  for (let round = 1; round <= atNight(8, 2); round++) {
    const random = seededRandom(`${seed}/${round}`);
    const other: Transcript = {
      run: transcript.run,
      exchanges: transcript.exchanges.map(({ json, sent, ...record }) => {
        const { response, request } = record;
        const body =
          random.integer(0, 3) === 0
            ? randomJson(random)
            : damageJson(response?.body ?? '', random);
        const status = random.integer(0, 4) === 0 ? random.integer(200, 599) : 200;
        const asked = random.integer(0, 5) === 0 ? { body: randomJson(random) } : {};
        return toExchange({
          ...record,
          request: { ...request, ...asked },
          ...(response && { response: { ...response, status, body } }),
        });
      }),
    };
    const judgment = judgeTranscript(serviceSuite, other);
    t.same(idsJudged(judgment, 'error'), [], `seed ${seed}, round ${round}`);
    t.doesNotThrow(() => reportOf(other, other.run.startedAt));
  }
  for (const [status, body] of [
    [204, ''],
    [200, '[]'],
    [404, 'null'],
  ] as const) {
    const all = transcript.exchanges.map(({ json, sent, ...record }) =>
      toExchange({ ...record, response: { status, headers: {}, body } }),
    );
    t.equal(judgeTranscript(serviceSuite, { run: transcript.run, exchanges: all }).counts.error, 0);
  }
});

void t.test('a field that no conversion accepts does not make a check throw', async (t) => {
  const { transcript } = await recordServiceOnce();
  // `Number` and `String` throw a TypeError for this object.
  const unconvertible = { valueOf: 1, toString: 1 };
  const closes = transcript.exchanges.filter(({ endpoint }) => endpoint === 'end');
  const fields = new Set(closes.flatMap(({ json }) => (isObject(json) ? Object.keys(json) : [])));
  t.ok(fields.has('evaluations_queued'), 'the recording closes conversations');
  for (const field of fields) {
    const exchanges = transcript.exchanges.map(({ json, sent, ...record }) => {
      const { response } = record;
      if (!response || !isObject(json) || !(field in json)) return toExchange(record);
      const body = JSON.stringify({ ...json, [field]: unconvertible });
      return toExchange({ ...record, response: { ...response, body } });
    });
    const judgment = judgeTranscript(serviceSuite, { run: transcript.run, exchanges });
    t.same(idsJudged(judgment, 'error'), [], field);
  }
});

void t.test('a check of a sandbox recognizes the address of the service', async (t) => {
  const service = await withStartedService(t);
  const { report } = await check({ target: service.url, kitVersion: 'test', seed: 's' });
  t.match(report.blockedBy, {
    id: 'no_interface',
    message: /^The server at \S+ is the evaluation service of sandbox-kit, not a sandbox\.$/,
    cure: /--area service/,
  });
});

void t.test('a server that is not the service gets one cause', async (t) => {
  const { agent } = await withReferenceAgent(t);
  const service = await withStartedService(t);
  for (const [target, id, message] of [
    [
      { url: agent.url, apiKey: 'a-key' },
      'no_interface',
      /The server at \S+ is an agent, not an evaluation service: it responds to GET \/health and/,
    ],
    [{ url: `${agent.url}/api`, apiKey: 'a-key' }, 'no_interface', /No service found at/],
    [
      { url: service.url, apiKey: 'not-the-key' },
      'key_refused',
      /The service refuses the key with 401/,
    ],
    [{ url: NOWHERE, apiKey: 'a-key' }, 'refused', /Nothing accepts/],
  ] as const) {
    const transcript = await recordRun(target);
    t.match(judgeTranscript(serviceSuite, transcript), {
      exitCode: 3,
      blockedBy: { id, message },
    });
    const { length } = transcript.exchanges;
    t.ok(length < 20, `${id}: the run stops after ${length} requests`);
  }
});

void t.test('check --area service: exit code, report, and a redacted key', async (t) => {
  const service = await withStartedService(t);
  const folder = t.testdir({});
  const record = join(folder, 'run.ndjson');
  const args = ['check', service.url, '--area', 'service', '--json', '-', '--record', record];
  const env = { SANDBOX_KIT_SERVICE_API_KEY: service.apiKey };
  const ran = await run([...args, '--no-intrusive'], { env });
  t.equal(ran.code, 0, ran.stderr);
  const report = JSON.parse(ran.stdout) as CheckReport;
  t.equal(report.verdict, 'conforming');
  t.ok(report.requirements.every(({ area }) => area === 'service'));
  t.notOk((ran.stdout + ran.stderr + readFileSync(record, 'utf8')).includes(service.apiKey));
  const graded = await run(['grade', record]);
  t.equal(graded.code, 0, graded.stdout + graded.stderr);

  const accepted = [{ id: 'SERVICE-001', comment: 'until release 7' }];
  const knownFailures = join(folder, 'accepted.json');
  writeFileSync(knownFailures, JSON.stringify({ accepted }));
  const stale = await run(['grade', record, '--known-failures', knownFailures]);
  t.equal(stale.code, 1, stale.stderr);
  t.match(stale.stdout, /The list of known failures is outdated: SERVICE-001 now passes\./);
  const other = JSON.stringify({ accepted: [{ id: 'CHAT-001', comment: 'of a sandbox' }] });
  const foreign = await runProcess(['grade', record, '--known-failures', '-'], { input: other });
  assertUsageError(
    t,
    foreign,
    /CHAT-001 is not part of this run: it is a requirement of a sandbox\. Remove it\./,
  );
});

void t.test('check --area service: wrong usage, --list, and --dry-run', async (t) => {
  for (const [args, message] of [
    [['--area', 'service,chat'], /--area can't combine service with other areas/],
    [
      ['--area', 'voices'],
      /--area must be a list of chat, health, users, voice, or only\s+service, got "voices"/,
    ],
    [['--intrusive'], /--intrusive needs --area service/],
  ] as const) {
    assertUsageError(t, await run(['check', NOWHERE, ...args]), message);
  }
  const listed = await run(['check', '--list', '--area', 'service']);
  t.match(listed.stdout, /SERVICE-001/);
  t.notMatch(listed.stdout, /CHAT-001/);
  t.match(listed.stdout, /^SERVICE-001 {2}must {4}\S/m, 'columns are separated');
  const describePlan = async (...args: string[]): Promise<string> => {
    const ran = await run(['check', '--dry-run', '--area', 'service', ...args]);
    t.equal(ran.code, 0, ran.stderr);
    const lines = ran.stdout.split('\n');
    for (const line of lines) t.ok(line.length <= 80, line);
    const rows = lines.filter((line) => line.startsWith('  service/'));
    for (const row of rows)
      t.match(row, /^ {2}\S+ {2,}(preflight|accepted|refused|after|cleanup|last|end) /);
    t.equal(rows.length, new Set(rows).size);
    return ran.stdout.replaceAll(/\s+/g, ' ');
  };
  const few =
    /^The run sends up to (\d+) requests; with --intrusive \(the default for a service on this machine\), (\d+) requests\./;
  const [, some, all] = few.exec(await describePlan()) ?? [];
  t.ok(Number(some) < Number(all), `${some} < ${all}`);
  t.match(await describePlan('https://service.example.com'), few);
  const [, most, less] =
    /^The run sends up to (\d+) requests; with --no-intrusive, (\d+) requests\./.exec(
      await describePlan(NOWHERE),
    ) ?? [];
  t.same([most, less], [all, some], 'the same numbers with and without the option');
  t.match(
    await describePlan('--intrusive'),
    `The run sends up to ${all} requests; with --no-intrusive, ${some} requests.`,
  );
  const explained = await run(['explain', '4.1.8']);
  t.match(explained.stdout, /SERVICE-005[^]*service\/traces-202/);
});
