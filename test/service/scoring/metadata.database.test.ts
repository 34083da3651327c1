/** Evals can read the metadata of a session, whether it was uploaded, seeded, or traced. */
import t from 'tap';
import type {
  EvalDefinition,
  SeedDocument,
  TranscriptUpload,
} from '../../../src/contract/index.ts';
import { assertError, withService, type ServiceUnderTest } from '../../support/services/service.ts';
import { makeSpan } from '../../support/traces/otlp.ts';

const metadataEval = (id: string, key: string, equals: unknown): EvalDefinition => ({
  id,
  name: id,
  kind: 'evaluation_metadata',
  params: { key, equals },
});
const pathEval = (id: string, at: string, equals: unknown): EvalDefinition => ({
  id,
  name: id,
  kind: 'json_path',
  params: { path: at, equals },
});

async function withEvals(
  t: Parameters<typeof withService>[0],
  evals: EvalDefinition[],
  seed: SeedDocument = {},
): Promise<ServiceUnderTest> {
  const settings = { evals: evals.slice(0, 5).map(({ id }) => id) };
  return withService(t, { seed: { evals, settings, ...seed } });
}

/** Returns the outcomes of the only session by eval. */
async function readOutcomes({ drain, production, simulations }: ServiceUnderTest): Promise<object> {
  await drain();
  const items = [...(await production()).items, ...(await simulations()).items];
  return Object.fromEntries(
    items.flatMap((item) =>
      item.eval_outcomes.map(({ eval_name: name, outcome }) => [name, outcome]),
    ),
  );
}

const hinted = [
  metadataEval('found', 'order_found', true),
  metadataEval('step', 'resolution_step', 2),
  metadataEval('tone', 'tone', 'warm'),
  pathEval('tier', '$.metadata.tier', 'gold'),
  pathEval('second', '$.turns[1].evaluation_metadata.order_found', true),
];
const expectedOutcomes = {
  found: 'pass',
  step: 'pass',
  tone: 'fail',
  tier: 'pass',
  second: 'pass',
};
const turns: TranscriptUpload['turns'] = [
  { user_input: 'Hi', agent_response: 'Hello', evaluation_metadata: { tone: 'cold' } },
  {
    user_input: 'Where is it?',
    agent_response: 'On its way',
    evaluation_metadata: { order_found: true, resolution_step: 2 },
  },
];

void t.test('evals see the metadata of an uploaded transcript', async (t) => {
  const tested = await withEvals(t, hinted);
  const upload = { session_id: 't-1', metadata: { tier: 'gold' }, turns };
  await tested.admin('POST /transcripts', upload);
  t.same(await readOutcomes(tested), expectedOutcomes);
  for (const wrong of [
    { ...upload, metadata: [] },
    { ...upload, turns: [{ ...turns[0], evaluation_metadata: 'x' }] },
  ]) {
    assertError(
      t,
      await tested.send('POST /__admin/transcripts', { body: wrong }),
      400,
      /metadata/,
    );
  }
  const page = await (await fetch((await tested.production()).items[0]?.url ?? '')).text();
  t.match(page, /evaluation metadata[^]*&quot;order_found&quot;: true/);
});

void t.test('evals see the metadata of a transcript in seed data', async (t) => {
  const transcripts = [{ session_id: 't-1', metadata: { tier: 'gold' }, turns }];
  t.same(await readOutcomes(await withEvals(t, hinted, { transcripts })), expectedOutcomes);
});

void t.test(
  'evals see the metadata of a simulated session in seed data, which is scored by the evals it names',
  async (t) => {
    const session = {
      scenario: 's',
      persona: 'p',
      started_at: '2026-11-20T09:00:00Z',
      metadata: { tier: 'gold' },
      turns,
      evals: hinted.map(({ id }) => id),
    };
    const simulations = [{ name: 'Nightly', agent: 'A', sessions: [session] }];
    const tested = await withEvals(t, hinted, { simulations });
    t.same(await readOutcomes(tested), expectedOutcomes);
    const evals = ['found', 'nothing'];
    const body = { simulations: [{ ...simulations[0], sessions: [{ ...session, evals }] }] };
    const rejected = await tested.send('POST /__admin/seed', { body });
    assertError(t, rejected, 400, /\/simulations\/0\/sessions\/0\/evals\/1.*"nothing"/);
  },
);

void t.test('evals see the evaluation metadata in span attributes, turn by turn', async (t) => {
  const tested = await withEvals(t, hinted);
  const startMs = Date.UTC(2026, 10, 20, 9, 30);
  const first = { 'evaluation_metadata.tone': 'cold', tier: 'gold' };
  const second = {
    'evaluation_metadata.order_found': true,
    evaluation_metadata: '{"resolution_step":2}',
  };
  await tested.trace(
    makeSpan({ startMs, attributes: first }),
    makeSpan({ startMs: startMs + 5_000, attributes: second }),
  );
  await tested.end('conv-1');
  t.same(await readOutcomes(tested), expectedOutcomes);
  const page = await (await fetch((await tested.production()).items[0]?.url ?? '')).text();
  t.match(page, 'evaluation_metadata.tone = cold', 'the attributes are also tags');
});

void t.test(
  'a tag with several values is a list; metadata that is not an object is ignored',
  async (t) => {
    const tested = await withEvals(t, [
      pathEval('list', '$.metadata.tier', ['gold', 'silver']),
      pathEval('any', '$.metadata.tier[*]', 'gold'),
      pathEval('none', '$.turns[*].evaluation_metadata', {}),
      metadataEval('proto', '__proto__', 1),
    ]);
    await tested.trace(
      makeSpan({ attributes: { tier: 'silver', evaluation_metadata: 'not JSON' } }),
      makeSpan({ attributes: { tier: 'gold', evaluation_metadata: '[1]' } }),
      makeSpan({ attributes: { 'evaluation_metadata.__proto__': 1 } }),
    );
    await tested.end('conv-1');
    t.same(await readOutcomes(tested), { list: 'pass', any: 'pass', none: 'fail', proto: 'pass' });
  },
);
