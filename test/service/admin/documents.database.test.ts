/** `/__admin/agents`, `/scenarios`, and `/personas`: the documents that simulations use. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { schemas, type Persona, type Scenario } from '../../../src/contract/index.ts';
import { startService } from '../../../src/service/index.ts';
import { openStore } from '../../../src/service/store/open-store.ts';
import { makeContainsEval, assertError, withService } from '../../support/services/service.ts';

const API_KEY = 'the-key-of-the-sandbox';
const agent = { id: 'shop', name: 'Shop agent', url: 'https://shop.example/agent' };
const persona: Persona = { id: 'impatient', name: 'Impatient' };
const scenario: Scenario = {
  id: 'late-parcel',
  name: 'Late parcel',
  user: { opening: 'Where is it?' },
};

void t.test('. and .. are not ids, because no URL can name them', async (t) => {
  const { send, admin } = await withService(t);
  for (const [path, document] of [
    ['agents', agent],
    ['personas', persona],
    ['scenarios', scenario],
    ['evals', makeContainsEval('e', 'x')],
  ] as const) {
    const length = path === 'evals' ? 64 : 128;
    for (const id of ['.', '..']) {
      const refused = await send(`POST /__admin/${path}`, { body: { ...document, id } });
      const expected = `/id must be 1 to ${length} letters, digits, dots, hyphens, or underscores, and neither . nor ..`;
      assertError(t, refused, 400);
      t.match(refused.json, { message: `${expected}, got "${id}".` }, path);
    }
    await admin(`POST /${path}`, { ...document, id: '...' });
    t.match(await admin(`GET /${path}/...`), { id: '...' });
  }
});

void t.test('documents can be added, replaced, listed, read, and deleted per owner', async (t) => {
  const { admin, send } = await withService(t);
  const keyless = { has_api_key: false };
  // Columns: path, first document, its replacement, fields added to responses.
  for (const [path, first, second, added] of [
    ['agents', agent, { ...agent, name: 'Better' }, keyless],
    ['personas', persona, { ...persona, language: 'de-CH' }, {}],
    ['scenarios', scenario, { ...scenario, samples: 3 }, {}],
  ] as const) {
    const after = { ...second, ...added };
    t.same(await admin(`POST /${path}`, first), { ...first, ...added });
    t.same(await admin(`POST /${path}`, second), after);
    t.same(await admin(`GET /${path}`), { [path]: [after] });
    t.same(await admin(`GET /${path}/${first.id}`), after);
    await admin(`POST /${path}?owner=team-b`, first);
    t.same(await admin(`DELETE /${path}/${first.id}`), { deleted: first.id });
    t.same(await admin(`GET /${path}`), { [path]: [] });
    t.same(await admin(`GET /${path}?owner=team-b`), { [path]: [{ ...first, ...added }] });
    assertError(t, await send(`DELETE /__admin/${path}/${first.id}`), 404, new RegExp(first.id));
    assertError(t, await send(`GET /__admin/${path}/${first.id}`), 404);
    assertError(t, await send(`GET /__admin/${path}?owner=nobody`), 404, /nobody/);
  }
});

void t.test('no response contains the API key of an agent', async (t) => {
  const dataDir = t.testdir();
  const lines: string[] = [];
  const write = (message: string, fields?: object) => {
    lines.push(JSON.stringify([message, fields]));
  };
  const log = { info: write, warn: write, error: write };
  const { admin, send, service } = await withService(t, { dataDir, log });
  const responses = [
    await admin('POST /agents', { ...agent, api_key: API_KEY }),
    await admin('GET /agents'),
    await admin('GET /agents/shop'),
    await admin('POST /seed', { agents: [{ ...agent, id: 'other', api_key: API_KEY }] }),
    await admin('GET /agents'),
    await admin('GET /requests'),
  ];
  t.match(responses[1], { agents: [{ ...agent, has_api_key: true }] });
  for (const body of [
    { ...agent, api_key: `${API_KEY} ` },
    { ...agent, apiKey: API_KEY },
    [{ api_key: API_KEY }],
    { ...agent, url: 'x', api_key: API_KEY },
  ]) {
    const response = await send('POST /__admin/agents', { body });
    assertError(t, response, 400);
    responses.push(response.text);
  }
  await service.stop();
  t.notMatch(JSON.stringify(responses), API_KEY);
  t.notMatch(lines.join('\n'), API_KEY);
  t.match(lines.join('\n'), /service_listening/, 'the log is not empty');
  const store = await openStore({ file: join(dataDir, 'service.db') });
  t.teardown(() => store.close());
  const ownerId = (await store.owners.findId('development')) ?? '';
  t.equal(
    await store.documents.findApiKey(ownerId, 'shop'),
    API_KEY,
    'the key is stored for calls to the sandbox',
  );
});

void t.test('an agent without an id is identified by its name, even after a restart', async (t) => {
  const dataDir = t.testdir();
  const post = async (url: string): Promise<{ id: string; url: string }> => {
    const service = await startService({ dataDir });
    const response = await fetch(`${service.adminUrl}/agents`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Shop agent', url }),
    });
    const listed = await (await fetch(`${service.adminUrl}/agents`)).json();
    await service.stop();
    t.match(listed, { agents: { length: 1 } });
    return (await response.json()) as { id: string; url: string };
  };
  const first = await post('http://127.0.0.1:1');
  const second = await post('http://127.0.0.1:2');
  t.match(first.id, /^agt_/);
  t.same(
    second,
    { ...first, url: 'http://127.0.0.1:2', connection: 1 },
    'its address has changed once',
  );
});

void t.test('every schema example is accepted', async (t) => {
  const { admin } = await withService(t);
  await admin('POST /evals', makeContainsEval('order-found', 'x'));
  for (const example of schemas.Persona.examples) await admin('POST /personas', example);
  for (const example of schemas.Scenario.examples) await admin('POST /scenarios', example);
  for (const example of schemas.TestedAgent.examples) await admin('POST /agents', example);
  t.match(await admin('GET /scenarios'), {
    scenarios: { length: schemas.Scenario.examples.length },
  });
});

void t.test('an inconsistent scenario is rejected with a JSON pointer to the error', async (t) => {
  const { send, admin } = await withService(t);
  await admin('POST /evals', makeContainsEval('order-found', 'x'));
  const user = scenario.user;
  const rows: [object, RegExp][] = [
    [{ ...scenario, evals: ['order-fond'] }, /got "order-fond"; did you mean order-found\?$/],
    [{ ...scenario, persona: 'nobody' }, /^\/persona must be the id of a persona, got "nobody"\.$/],
    [
      { ...scenario, evals: ['none'] },
      /^\/evals\/0 must be the id of an eval, got "none"; .*order-found\.$/,
    ],
    [
      { ...scenario, user: { ...user, steps: [{ say: 'a', next: 'b' }] } },
      /^\/user\/steps\/0\/next must be the id of a step, got "b"\.$/,
    ],
    [
      { ...scenario, user: { ...user, steps: ['a', 'a'].map((id) => ({ id, say: 'x' })) } },
      /^\/user\/steps\/1\/id repeats "a" of \/user\/steps\/0\/id\.$/,
    ],
    [
      { ...scenario, user: { ...user, facts: ['1', '2'].map((value) => ({ name: 'n', value })) } },
      /^\/user\/facts\/1\/name repeats "n" of \/user\/facts\/0\/name\.$/,
    ],
    [
      { ...scenario, user: { ...user, stop_when: [{ matches: '(' }] } },
      /^\/user\/stop_when\/0\/matches is not a regular expression/,
    ],
    [
      { ...scenario, user: { ...user, reactions: [{ when: { matches: '[' }, say: 'x' }] } },
      /^\/user\/reactions\/0\/when\/matches is not/,
    ],
    [
      { ...scenario, history: { long: 'x'.repeat(140_000) } },
      /must have at most 131072 characters of JSON, got 140\d\d\d\.$/,
    ],
    [{ ...scenario, user: {} }, /\/user\/opening must be a string, got nothing/],
    [{ ...scenario, colour: 'red' }, /\/colour must be absent/],
  ];
  for (const [body, message] of rows) {
    assertError(t, await send('POST /__admin/scenarios', { body }), 400, message);
  }
  t.same(await admin('GET /scenarios'), { scenarios: [] });
});

void t.test('an owner has at most 1000 documents of a kind', async (t) => {
  const { admin, send } = await withService(t);
  const personas = Array.from({ length: 1000 }, (_, nth) => ({ id: `p-${nth}`, name: 'P' }));
  await admin('POST /seed', { personas });
  assertError(t, await send('POST /__admin/personas', { body: persona }), 400, /At most 1000/);
  assertError(t, await send('POST /__admin/seed', { body: { personas: [persona] } }), 400, /1000/);
  await admin('POST /personas', { ...personas[0], name: 'Replaced' });
  await admin('POST /personas?owner=team-b', persona);
});

void t.test('an owner has at most 1000 evals', async (t) => {
  const { admin, send } = await withService(t);
  const evals = Array.from({ length: 1000 }, (_, nth) => makeContainsEval(`e-${nth}`, 'x'));
  await admin('POST /seed', { evals });
  const more = makeContainsEval('more', 'x');
  const tooMany = /At most 1000 evals can be stored\. Delete some\./;
  assertError(t, await send('POST /__admin/evals', { body: more }), 400, tooMany);
  assertError(t, await send('POST /__admin/seed', { body: { evals: [more] } }), 400, tooMany);
  await admin('POST /evals', makeContainsEval('e-0', 'replaced'));
  await admin('POST /evals?owner=team-b', more);
});

void t.test('seed data can contain documents, and a reset treats them like evals', async (t) => {
  const seed = {
    agents: [{ ...agent, api_key: API_KEY }, { name: 'Only a name' }],
    evals: [makeContainsEval('polite', 'please')],
    personas: [persona],
    scenarios: [{ ...scenario, persona: 'impatient', evals: ['polite'] }],
  };
  const { admin, send } = await withService(t, { seed });
  const listAll = async () => [
    await admin('GET /agents'),
    await admin('GET /personas'),
    await admin('GET /scenarios'),
  ];
  const seeded = await listAll();
  t.same(seeded, [
    { agents: [{ ...agent, has_api_key: true }] },
    { personas: [persona] },
    { scenarios: seed.scenarios },
  ]);
  t.match(await admin('POST /seed', seed), { seeded: { agents: 2, personas: 1, scenarios: 1 } });
  await admin('POST /personas', { id: 'more', name: 'More' });
  await admin('DELETE /scenarios/late-parcel');
  await admin('POST /reset', { to: 'seed' });
  t.same(await listAll(), seeded);
  await admin('POST /reset', { to: 'empty' });
  t.same(await listAll(), [{ agents: [] }, { personas: [] }, { scenarios: [] }]);
  const keyWithoutUrl = { agents: [{ name: 'A', api_key: API_KEY }] };
  assertError(
    t,
    await send('POST /__admin/seed', { body: keyWithoutUrl }),
    400,
    /\/agents\/0\/url/,
  );
});

void t.test('only its owner can read the data directory', async (t) => {
  const dataDir = t.testdir();
  const { admin } = await withService(t, { dataDir });
  await admin('POST /agents', { ...agent, api_key: API_KEY });
  t.ok(
    readFileSync(join(dataDir, 'service.db-wal')).includes(API_KEY),
    'the store contains the key',
  );
  t.equal(statSync(join(dataDir, 'service.db-wal')).mode & 0o77, 0);
});

void t.test('a persona can have no voice settings that do nothing', async (t) => {
  const { send, admin } = await withService(t);
  const body = { id: 'p', name: 'P', voice: { pitch: 1.2 } };
  assertError(t, await send('POST /__admin/personas', { body }), 400, /\/voice\/pitch/);
  await admin('POST /personas', { ...body, voice: { speed: 1.2, pauses: 'many' } });
});

void t.test(
  'an agent is not at a link-local or metadata address, nor at an impossible port',
  async (t) => {
    const { admin, send } = await withService(t);
    const urls = [
      'http://169.254.169.254/latest',
      'http://[fe80::1]:80',
      'http://[::ffff:a9fe:a9fe]',
    ];
    for (const url of [...urls, 'http://100.100.100.200', 'http://127.0.0.1:70000']) {
      const expected = url.endsWith('70000')
        ? /\/url must be a valid URL with a port of at most 65535/
        : /\/url must not be a link-local, multicast, or metadata address/;
      assertError(
        t,
        await send('POST /__admin/agents', { body: { ...agent, url } }),
        400,
        expected,
      );
      const seed = { agents: [{ ...agent, url }] };
      assertError(
        t,
        await send('POST /__admin/seed', { body: seed }),
        400,
        /\/agents\/0\/url must/,
      );
      const inline = { agent: { name: 'Inline', url }, scenarios: [scenario] };
      assertError(t, await send('POST /__admin/simulations', { body: inline }), 400, expected);
    }
    const voice = { ...agent, voice_url: 'ws://169.254.169.254/voice' };
    assertError(
      t,
      await send('POST /__admin/agents', { body: voice }),
      400,
      /\/voice_url must not/,
    );
    t.same(await admin('GET /agents'), { agents: [] });
  },
);
