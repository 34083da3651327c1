import type { Test } from 'tap';
import type { Scenario } from '../../src/contract/index.ts';
import { withReferenceAgent } from './reference-agent.ts';
import { makeContainsEval, type Bench } from './service.ts';
import { makeScenario } from './simulation.ts';

/** A session with one outcome of the eval Polite. */
export interface SeededSession {
  id: string;
  outcome: 'pass' | 'fail' | 'error';
  text?: string;
  startedAt?: string;
}

/** Returns a production run of seed data. */
export const seedRun = (name: string, sessions: readonly SeededSession[]) => ({
  name,
  sessions: sessions.map(({ id, outcome, text = 'Hello.', startedAt }) => ({
    ...{ source_session_id: id, started_at: startedAt ?? '2026-11-20T09:30:00Z' },
    turns: [{ user_input: text, agent_response: text }],
    outcomes: [{ eval_name: 'Polite', outcome, reasoning: text }],
  })),
});

/** Starts a simulation, and returns its id. */
export async function startSimulation(bench: Bench, body: object): Promise<string> {
  const { id } = (await bench.admin('POST /simulations', body)) as { id: string };
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
export async function simulate(t: Test, bench: Bench): Promise<{ id: string; agentUrl: string }> {
  const { agent } = await withReferenceAgent(t);
  const id = await startSimulation(bench, {
    agent: { name: 'Shop agent', url: agent.url },
    ...{ scenarios: [parcel, hours], samples: 2, seed: 'nightly', name: 'Nightly' },
  });
  await bench.drain();
  return { id, agentUrl: agent.url };
}
