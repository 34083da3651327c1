/** Seed data: stored completely or not at all, and restored by a reset. */
import t from 'tap';
import type { SeedDocument, TranscriptUpload } from '../../../src/contract/index.ts';
import { atNight } from '../../support/nightly.ts';
import {
  makeContainsEval,
  assertError,
  assertRejected,
  withService,
} from '../../support/services/service.ts';
import { makeSpan } from '../../support/traces/otlp.ts';

/** The number of transcripts in large seed data. */
const COUNT = atNight(3_000, 300);

void t.test(
  'reset deletes everything but the keys, and restores the seed data on request',
  async (t) => {
    const seed = {
      keys: [{ key: 'team-a-test-key' }],
      evals: [makeContainsEval('seeded', 'x')],
      settings: { evals: ['seeded'], run_name: 'Seeded' },
      simulations: [
        {
          name: 'Sim',
          agent: 'A',
          sessions: [{ scenario: 's', persona: 'p', started_at: '2026-11-20T09:00:00Z' }],
        },
      ],
    };
    const { admin, trace, send, simulations } = await withService(t, { seed });
    const before = await simulations();
    await trace(makeSpan());
    await admin('POST /evals', makeContainsEval('more', 'x'));
    await admin('POST /faults', { kind: 'server_error' });
    await admin('POST /reset', { to: 'seed' });
    assertError(t, await send('POST /v1/sessions/conv-1/end', { key: 'team-a-test-key' }), 404);
    t.match(await admin('GET /evals'), { evals: { length: 1 } });
    t.match(await admin('GET /settings'), { run_name: 'Seeded' });
    t.same((await simulations()).items, before.items, 'with the same ids');
    await admin('POST /reset', { to: 'empty' });
    t.same(await simulations(), { items: [], total: 0, skip: 0, limit: 50 });
    t.same(await admin('GET /settings'), { evals: [], run_name: 'Live traces' });
    assertError(t, await send('POST /__admin/reset', { body: { to: 'start' } }), 400, /"seed"/);
  },
);

void t.test('seed data is validated completely before any of it is stored', async (t) => {
  const tested = await withService(t);
  const { admin, drain, production } = tested;
  const evals = [makeContainsEval('seeded', 'Hello')];
  const turns = [{ user_input: 'Hi', agent_response: 'Hello' }];
  const session = { scenario: 's', persona: 'p', started_at: '2026-11-20T09:00:00Z' };
  const simulation = { name: 'S', agent: 'A' };
  await assertRejected(t, tested, 'POST /seed', [
    { evals, more: [] },
    { evals: [...evals, ...evals] },
    { evals, settings: { evals: ['nothing'] } },
    { evals, transcripts: [{ session_id: 'x', turns, evals: ['nothing'] }] },
    { evals, simulations: [{ ...simulation, sessions: [{ ...session, started_at: 'x' }] }] },
    {
      evals,
      simulations: [{ ...simulation, sessions: [{ ...session, outcomes: [{ outcome: 'pass' }] }] }],
    },
    {
      evals: [{ ...makeContainsEval('x', 'x'), kind: 'regex', params: { pattern: '[' } }, ...evals],
    },
  ]);
  t.same(await admin('GET /evals'), { evals: [] });
  const result = await admin('POST /seed', {
    evals,
    settings: { evals: ['seeded'] },
    transcripts: [{ session_id: 't-1', turns }],
  });
  t.match(result, { seeded: { evals: 1, transcripts: 1 } });
  await drain();
  t.match((await production()).items, [{ outcome_summary: { passed_count: 1 } }]);
});

void t.test('seed data that fails halfway stores nothing', async (t) => {
  const { admin, send, production } = await withService(t);
  await admin('POST /keys', { key: 'team-b-test-key', owner: 'team-b' });
  const turns = [{ user_input: 'Hi', agent_response: 'Hello' }];
  const seed = {
    evals: [makeContainsEval('seeded', 'Hello')],
    settings: { evals: ['seeded'], run_name: 'Seeded' },
    transcripts: [{ session_id: 't-1', turns }],
    keys: [{ key: 'key-of-a-third', owner: 'third' }, { key: 'team-b-test-key' }],
  };
  assertError(t, await send('POST /__admin/seed', { body: seed }), 409, /^\/keys\/1\/key/);
  t.same(await admin('GET /evals'), { evals: [] });
  t.same(await admin('GET /settings'), { evals: [], run_name: 'Live traces' });
  t.equal((await production()).total, 0);
  const route = 'GET /api/simulations/sessions';
  assertError(t, await send(route, { key: 'key-of-a-third' }), 401);
});

void t.test(
  'seed data that refers to something a reset deletes is rejected, and nothing is lost',
  async (t) => {
    const { admin, send } = await withService(t);
    await admin('POST /evals', makeContainsEval('mine', 'x'));
    await admin('POST /seed', { settings: { evals: ['mine'] } });
    const response = await send('POST /__admin/reset', { body: { to: 'seed' } });
    assertError(t, response, 400, /^\/settings\/evals\/0 .*"mine"/);
    t.match(await admin('GET /evals'), { evals: { length: 1 } });
  },
);

void t.test(
  'transcripts in seed data are scored with the eval definitions of the seed data',
  async (t) => {
    const { admin, drain, production } = await withService(t);
    await admin('POST /evals', makeContainsEval('says', 'Goodbye'));
    const turns = [{ user_input: 'Hi', agent_response: 'Hello' }];
    await admin('POST /seed', {
      evals: [makeContainsEval('says', 'Hello')],
      settings: { evals: ['says'] },
      transcripts: [
        { session_id: 'live', turns },
        { session_id: 'named', turns, evals: ['says'], started_at: '2026-11-19T09:00:00Z' },
      ],
    });
    await drain();
    const summary = { total_evaluations: 1, passed_count: 1 };
    t.match((await production()).items, [
      // A transcript without started_at gets the current time. Each joins the run of its date.
      {
        source_session_id: 'live',
        run: 'Transcripts 2026-11-20',
        started_at: '2026-11-20T10:00:00.000Z',
        outcome_summary: summary,
      },
      { source_session_id: 'named', run: 'Transcripts 2026-11-19', outcome_summary: summary },
    ]);
  },
);

void t.test(
  'while large seed data loads, progress is reported and other requests get responses',
  async (t) => {
    const turns: TranscriptUpload['turns'] = [{ user_input: 'Hi', agent_response: 'Hello' }];
    const seed: SeedDocument = {
      evals: [makeContainsEval('says', 'Hello')],
      settings: { evals: ['says'] },
      transcripts: Array.from({ length: COUNT }, (_, nth) => ({ session_id: `t-${nth}`, turns })),
    };
    const progress: number[] = [];
    const onSeedProgress = (done: number, total: number): void => {
      t.equal(total, COUNT);
      progress.push(done);
    };
    const { admin, send, drain, production } = await withService(t, { seed, onSeedProgress });
    t.ok(progress.length > 1, `${progress.length} reports`);
    t.same(
      progress,
      progress.toSorted((a, b) => a - b),
    );
    t.equal(progress.at(-1), COUNT);
    await drain();
    const { total } = await production('?limit=1');
    t.equal(total, COUNT, 'every transcript is scored');

    const seeding = admin('POST /seed?owner=other', seed).then(() => 'seeded');
    const read = async (): Promise<string> => {
      t.equal((await send('GET /api/simulations/sessions/')).status, 200);
      return 'read';
    };
    t.equal(await Promise.race([seeding, read()]), 'read', 'the read does not wait');
    await seeding;
    t.equal(progress.length, progress.indexOf(COUNT) + 1, 'only startup reports progress');
  },
);
