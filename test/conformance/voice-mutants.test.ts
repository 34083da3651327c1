/**
 * The self-test of the voice area: every mutant fails exactly its requirements, every legal variant
 * fails none, and every dead peer gets its one cause. At a push, one mutant for each requirement runs, and
 * variants meet two probes; at night, every probe runs against all of them.
 */
import t from 'tap';
import { mutants, variants } from '../../conformance/areas/mutants.ts';
import { voiceDeadPeers } from '../../conformance/proof/voice-dead-peers.ts';
import { killable, selftest, selftestSize } from '../../conformance/proof/selftest.ts';
import { idsOf, sandboxSuite } from '../../conformance/areas/index.ts';
import { describeRows } from '../support/conformance/selftest-rows.ts';
import { isNightly } from '../support/nightly.ts';
import { withReferenceAgent } from '../support/sandboxes/reference-agent.ts';

const areas = ['voice'] as const;

const voiceMutants = mutants.filter(({ id }) => id.startsWith('voice/'));

void t.test('a mutant kills every requirement that can fail', (t) => {
  const killed = new Set<string>(voiceMutants.flatMap(({ kills }) => kills));
  for (const id of killable(idsOf('voice'))) t.ok(killed.has(id), `${id} is killed by a mutant`);
  t.ok(voiceMutants.length >= 90, `${voiceMutants.length} mutants`);
  t.ok(variants.filter(({ id }) => id.startsWith('legal/voice-')).length >= 20);
  t.ok(voiceDeadPeers.length >= 6);
  t.end();
});

void t.test('the self-test passes against the reference agent', async (t) => {
  const { agent } = await withReferenceAgent(t);
  const result = await selftest({
    url: agent.url,
    kitVersion: 'test',
    areas,
    isQuick: !isNightly,
    everyProbe: isNightly,
    voiceVariantProbes: sandboxSuite.probes.filter(
      ({ area, id }) => area !== 'voice' || ['voice/forms', 'voice/conversation'].includes(id),
    ),
    onResult: ({ kind, id, expected, actual }) => t.same(actual, expected, `${kind} ${id}`),
  });
  t.equal(result.cause, undefined, `the unchanged sandbox conforms; seed ${result.seed}`);
  t.same(result.unkilled, [], 'every mutant is killed');
  t.equal(result.rows.length + result.skipped.length, selftestSize({ areas }));
  t.comment(describeRows(result));
  t.ok(result.ok);
});
