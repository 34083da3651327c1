/** The bad network of a persona loses the packets that it names. Needs an idle machine. */
import t from 'tap';
import { fetchCalls } from '../../support/calls/caller.ts';
import { withReferenceAgent } from '../../support/sandboxes/reference-agent.ts';
import { makeCallerScenario } from '../../support/sessions/scenarios.ts';
import { simulateSession } from '../../support/sessions/simulated-sessions.ts';

void t.test('the agent receives about 90% of the packets at a loss of 10%', async (t) => {
  const { agent } = await withReferenceAgent(t);
  const voice = { network: { loss_pct: 10, burst: 2, jitter_ms: 20 } };
  const scenario = makeCallerScenario('lossy', { persona: { id: 'p', name: 'P', voice } });
  const session = await simulateSession(t, agent.url, scenario, { voice: {} });
  t.match(session, { verdict: 'passed', status: 'completed' });
  const [call] = await fetchCalls(agent.url);
  // The agent sends as many packets as the caller, unless its process is busy.
  const { packets_received: received = 0, packets_sent: sent = 0 } = call ?? {};
  t.ok(received > sent * 0.75 && received < sent * 0.97, `${received} of about ${sent} packets`);
});
