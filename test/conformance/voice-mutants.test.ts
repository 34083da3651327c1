/**
 * The judge of calls is held by what it must catch and by what it must leave alone: every mutant of
 * the voice endpoint turns exactly its requirements red, no legal variant any, and every dead peer
 * gives its one cause. With EVERY_PROBE=1 every probe runs against every mutant.
 */
import t from 'tap';
import { mutants, variants } from '../../conformance/areas/mutants.ts';
import { voiceDeadPeers } from '../../conformance/proof/voice-dead-peers.ts';
import { killable, selftest, selftestSize } from '../../conformance/proof/selftest.ts';
import { idsOf } from '../../conformance/areas/index.ts';
import { startAgent } from '../../reference-agent/index.ts';

t.setTimeout(process.env['EVERY_PROBE'] === '1' ? 1_200_000 : 540_000);

const areas = ['voice'] as const;

void t.test('there is a mutant for every requirement that can turn red', (t) => {
  const own = mutants.filter(({ id }) => id.startsWith('voice/'));
  const killed = new Set<string>(own.flatMap(({ kills }) => kills));
  for (const id of killable(idsOf('voice'))) t.ok(killed.has(id), `${id} is killed by a mutant`);
  t.ok(own.length >= 90, `${own.length} mutants`);
  t.ok(variants.filter(({ id }) => id.startsWith('legal/voice-')).length >= 20);
  t.ok(voiceDeadPeers.length >= 6);
  t.end();
});

void t.test('against the reference agent', async (t) => {
  const agent = await startAgent();
  t.teardown(() => agent.stop());
  const result = await selftest({
    url: agent.url,
    kitVersion: 'test',
    areas,
    everyProbe: process.env['EVERY_PROBE'] === '1',
    onResult: ({ kind, id, expected, actual }) => t.same(actual, expected, `${kind} ${id}`),
  });
  t.equal(result.cause, undefined, `it conforms untouched; seed ${result.seed}`);
  t.same(result.unkilled, [], 'nothing survives');
  t.equal(result.rows.length, selftestSize({ areas }));
  t.ok(result.ok);
});
