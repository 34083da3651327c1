/** The bad network of a persona, and of a load test, loses the packets that it names. Needs an idle machine. */
import t from 'tap';
import { fetchCalls } from '../../support/calls/caller.ts';
import { runVoiceLoad } from '../../support/measurements/voice-load.ts';
import { withReferenceAgent } from '../../support/sandboxes/reference-agent.ts';
import { makeCallerScenario } from '../../support/sessions/scenarios.ts';
import { simulateSession } from '../../support/sessions/simulated-sessions.ts';

void t.test('the agent receives about 90% of the packets at a loss of 10%', async (t) => {
  const { agent } = await withReferenceAgent(t);
  const voice = { network: { loss_pct: 10, burst: 2, jitter_ms: 20 } };
  const scenario = makeCallerScenario('lossy', { persona: { id: 'p', name: 'P', voice } });
  const session = await simulateSession(t, agent.url, scenario, { voice: {} });
  t.match(session, { verdict: 'passed', status: 'completed' });
  const { received, sent } = await countPackets(agent.url);
  t.ok(received > sent * 0.75 && received < sent * 0.97, `${received} of about ${sent} packets`);
});

void t.test(
  'the agent receives fewer packets than callers over a crowded network send',
  async (t) => {
    const { agent } = await withReferenceAgent(t);
    await runVoiceLoad(agent.url, {}, { network: 'crowded' });
    const { received, sent } = await countPackets(agent.url);
    t.ok(received > sent * 0.9 && received < sent * 0.99, `${received} of about ${sent} packets`);
  },
);

/** Counts the packets of all calls. The agent sends as many as the callers, unless its process is busy. */
async function countPackets(agentUrl: string): Promise<{ received: number; sent: number }> {
  const calls = await fetchCalls(agentUrl);
  return {
    received: calls.reduce((sum, call) => sum + call.packets_received, 0),
    sent: calls.reduce((sum, call) => sum + call.packets_sent, 0),
  };
}
