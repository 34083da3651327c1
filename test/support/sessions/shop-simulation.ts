import type { Test } from 'tap';
import type { Scenario } from '../../../src/contract/index.ts';
import { withReferenceAgent } from '../sandboxes/reference-agent.ts';
import { makeContainsEval, type ServiceUnderTest } from '../services/service.ts';
import { makeScenario } from './scenarios.ts';

/** Starts a simulation, and returns its id. */
export async function startSimulation(tested: ServiceUnderTest, body: object): Promise<string> {
  const { id } = (await tested.admin('POST /simulations', body)) as { id: string };
  return id;
}

/** A scenario that the reference agent passes. */
export const parcel: Scenario = makeScenario({
  id: 'parcel',
  name: 'Late parcel',
  user: { opening: 'Where is my order A-1001?' },
  evals: [makeContainsEval('ships', 'shipped')],
});
/** A scenario that the reference agent fails. */
export const hours: Scenario = makeScenario({
  id: 'hours',
  name: 'Opening hours',
  user: { opening: 'When are you open?' },
  evals: [makeContainsEval('tells', 'unlikely words')],
});

/** Runs both scenarios against the reference agent; one passes, one fails. */
export async function runShopSimulation(
  t: Test,
  tested: ServiceUnderTest,
): Promise<{ id: string; agentUrl: string }> {
  const { agent } = await withReferenceAgent(t);
  const id = await startSimulation(tested, {
    agent: { name: 'Shop agent', url: agent.url },
    scenarios: [parcel, hours],
    samples: 2,
    seed: 'nightly',
    name: 'Nightly',
  });
  await tested.drain();
  return { id, agentUrl: agent.url };
}
