/**
 * The self-test of the voice area: every mutant fails exactly its requirements, every legal variant
 * fails none, and every dead peer gets its one cause. At a push, one mutant for each requirement runs, and
 * variants meet two probes; at night, every probe runs against all of them.
 */
import t from 'tap';
import { mutants, variants } from '../../conformance/areas/mutants.ts';
import { voiceDeadPeers } from '../../conformance/proof/voice-dead-peers.ts';
import { idsOf, sandboxSuite } from '../../conformance/areas/index.ts';
import { assertKilled, assertSelftest } from '../support/conformance/selftest.ts';
import { isNightly } from '../support/nightly.ts';
import { withReferenceAgent } from '../support/sandboxes/reference-agent.ts';

const voiceMutants = mutants.filter(({ id }) => id.startsWith('voice/'));

void t.test('a mutant kills every requirement that can fail', (t) => {
  assertKilled(t, voiceMutants, idsOf('voice'));
  t.ok(voiceMutants.length >= 90, `${voiceMutants.length} mutants`);
  t.ok(variants.filter(({ id }) => id.startsWith('legal/voice-')).length >= 20);
  t.ok(voiceDeadPeers.length >= 6);
  t.end();
});

void t.test('the self-test passes against the reference agent', async (t) => {
  const { agent } = await withReferenceAgent(t);
  await assertSelftest(t, {
    url: agent.url,
    areas: ['voice'],
    everyProbe: isNightly,
    voiceVariantProbes: sandboxSuite.probes.filter(
      ({ area, id }) => area !== 'voice' || ['voice/forms', 'voice/conversation'].includes(id),
    ),
  });
});
