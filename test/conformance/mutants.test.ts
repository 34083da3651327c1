/**
 * The self-test of the chat, health and users areas: every mutant fails exactly its requirements,
 * every legal variant fails none, and every dead peer gets its one cause. At a push, most mutants and
 * variants are applied to a recording of the unchanged sandbox, and some of the others run; at night,
 * all of them run.
 */
import t from 'tap';
import {
  allMutants,
  allVariants,
  clientVariants,
  mutants,
  serviceVariants,
  variants,
} from '../../conformance/areas/mutants.ts';
import { deadPeers, serviceDeadPeers } from '../../conformance/proof/dead-peers.ts';
import { voiceDeadPeers } from '../../conformance/proof/voice-dead-peers.ts';
import { httpAreas } from '../../conformance/proof/judged-peer.ts';
import { selftest, selftestSize } from '../../conformance/proof/selftest.ts';
import { assertKilled, assertSelftest } from '../support/conformance/selftest.ts';
import { nightOnly } from '../support/nightly.ts';
import { withPlainSandbox } from '../support/sandboxes/plain-sandbox.ts';
import { withReferenceAgent } from '../support/sandboxes/reference-agent.ts';

const areas = httpAreas;

void t.test('a mutant kills every requirement that can fail', (t) => {
  assertKilled(t, mutants);
  t.ok(mutants.length >= 60, `${mutants.length} mutants`);
  t.ok(variants.length >= 20, `${variants.length} variants`);
  t.end();
});

void t.test('every peer of a self-test has a unique id with the prefix of its kind', (t) => {
  const dead = [...deadPeers, ...voiceDeadPeers, ...serviceDeadPeers];
  const ids = [...allMutants, ...allVariants, ...dead].map(({ id }) => id);
  t.equal(new Set(ids).size, ids.length, 'ids differ');
  for (const { id, kills } of allMutants) {
    t.match(id, /^(chat|health|users|voice|service|client)\/[a-z0-9-]+$/);
    t.equal(new Set(kills).size, kills.length, `${id} names each requirement once`);
    t.ok(kills.length > 0, `${id} kills something`);
  }
  for (const { id } of allVariants) t.match(id, /^legal\/[a-z0-9-]+$/);
  for (const { id } of serviceVariants) t.match(id, /^legal\/service-/);
  for (const { id } of clientVariants) t.match(id, /^legal\/client-/);
  for (const { id } of dead) t.match(id, /^dead\/[a-z0-9-]+$/);
  t.end();
});

void t.test('the size of a self-test counts mutants, variants, and dead peers', (t) => {
  const size = [...mutants, ...variants, ...deadPeers].filter(({ areas: own }) =>
    own.some((area) => areas.includes(area)),
  ).length;
  t.equal(selftestSize({ areas }), size);
  t.equal(selftestSize({ areas, only: 'dead/' }), deadPeers.length);
  t.end();
});

void t.test('the self-test passes against the reference agent', async (t) => {
  const apiKey = 'a-key-of-the-sandbox';
  const { agent } = await withReferenceAgent(t, { apiKey });
  await assertSelftest(t, { url: agent.url, apiKey, areas });
});

const secondImplementation =
  'the self-test passes against a second implementation of the interface';
void t.test(secondImplementation, nightOnly(), async (t) => {
  const url = await withPlainSandbox(t);
  for (const only of ['chat/c', 'chat/s', 'chat/refuses-', 'health/', 'users/', 'legal/users-']) {
    await assertSelftest(t, { url, areas, only });
  }
});

void t.test('a self-test fails if no peer matches the filter', async (t) => {
  const url = await withPlainSandbox(t);
  const result = await selftest({ url, kitVersion: 'test', only: 'no such id' });
  t.match(result, { ok: false, rows: [], cause: undefined });
});

void t.test('a self-test stops if the unchanged sandbox does not conform', async (t) => {
  const { agent } = await withReferenceAgent(t, {
    faults: [{ route: 'chat', kind: 'malformed_body' }],
  });
  const result = await selftest({ url: agent.url, kitVersion: 'test', areas });
  t.notOk(result.ok);
  t.match(
    result.cause,
    /^The unchanged sandbox is not-conforming, so it can't be the base of mutants/,
  );
  t.same(result.rows, []);
});
