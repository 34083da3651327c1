/** Personas with a voice: noise, a bad network, another voice, and another speed. */
import t from 'tap';
import { networkPresets } from '../../../src/voice/line-impairment/index.ts';
import { readShippedPersonas } from '../../../library/input/personas.ts';
import { fetchCalls, withCall } from '../../support/calls/caller.ts';
import { withReferenceAgent } from '../../support/sandboxes/reference-agent.ts';
import { makeCallerScenario } from '../../support/sessions/scenarios.ts';
import { failedSession, simulateSession } from '../../support/sessions/simulated-sessions.ts';

t.jobs = 3;

const persona = { id: 'p', name: 'P' };

void t.test(
  'a caller with noise and a bad network is understood',
  { timeout: 90_000 },
  async (t) => {
    const { agent } = await withReferenceAgent(t);
    const voice = {
      name: 'awb',
      speed: 1.2,
      noise: { kind: 'street', snr_db: 18 } as const,
      network: { loss_pct: 10, burst: 2, jitter_ms: 20 },
    };
    const scenario = makeCallerScenario('noisy', { persona: { ...persona, voice } });
    const session = await simulateSession(t, agent.url, scenario, { voice: {} });
    t.match(session, { verdict: 'passed', status: 'completed' });
  },
);

void t.test('an unknown voice is refused before the call', async (t) => {
  const { agent } = await withReferenceAgent(t);
  const scenario = makeCallerScenario('nova', { persona: { ...persona, voice: { name: 'nova' } } });
  t.match(
    await simulateSession(t, agent.url, scenario, { voice: {} }),
    failedSession('simulator_error', /no voice "nova", only awb, kal, rms, slt; .*SPEECH_URL/),
  );
  t.same(await fetchCalls(agent.url), []);
});

void t.test('a sandbox that refuses a call with 4429 leaves the session undecided', async (t) => {
  const { agent } = await withReferenceAgent(t, { voice: { callsMax: 1 } });
  await withCall(t, agent.voiceUrl ?? '');
  t.match(
    await simulateSession(t, agent.url, makeCallerScenario('full'), { voice: {} }),
    failedSession('infrastructure_error', /4429.*too many concurrent calls/),
  );
});

void t.test('the shipped personas have the voices that their names promise', (t) => {
  const byId = new Map(readShippedPersonas().map((each) => [each.id, each.voice]));
  t.same([...byId.keys()], ['hesitant', 'on-a-train', 'rushed', 'speakerphone']);
  t.same(byId.get('on-a-train')?.network, networkPresets.train);
  t.match(byId.get('rushed'), { speed: 1.2, interruptions: 'often' });
  t.match(byId.get('hesitant'), { pauses: 'many' });
  t.match(byId.get('speakerphone'), { noise: { kind: 'cafe' } });
  t.end();
});
