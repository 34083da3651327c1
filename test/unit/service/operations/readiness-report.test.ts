/** What the readiness of an agent says in detail. */
import t, { type Test } from 'tap';
import { isMessage, type TurnTaking } from '../../../../src/contract/index.ts';
import { reportReadiness } from '../../../../src/service/operations/readiness-report.ts';
import type { ReadinessPart } from '../../../../src/service/operations/readiness-part.ts';
import type { Session, Store } from '../../../../src/service/store/store.ts';

const agent = { id: 'shop', name: 'Shop', url: 'http://127.0.0.1:1', has_api_key: false };

const simulations: ReadinessPart = {
  id: 'simulations',
  name: 'Simulations',
  standing: 'pass',
  verdict: '1 of 1 scenario passed',
  detail: '1 scenario, none failed in its newest run.',
  atMs: 0,
  scenarios: [{ scenario_id: 'call', run_id: 'sim_1', verdict: 'passed', passed: 1, samples: 1 }],
};

const call: TurnTaking = {
  response_ms: { p50: 640, p95: 640, max: 640 },
  responses: [{ turn: 1, response_ms: 640 }],
  interruptions: [],
  backchannels: [],
  events: [],
  overlap_ms: 0,
  agent_interruptions: 0,
  false_endpoints: 0,
  missed_turns: 1,
  dead_air_ms: 0,
  gaps: 0,
};

/** Returns the part about simulations, whose sessions have these details. */
async function readPart(t: Test, simulated: Session['simulated']) {
  const runs = { listSamples: () => Promise.resolve([{ simulated } as Session]) };
  const readiness = { agent, asOfMs: 0, parts: [simulations], readiness: 'yes', runs: [] } as const;
  const report = await reportReadiness(
    { store: { runs } as unknown as Pick<Store, 'agentReports' | 'runs'> },
    'owner',
    readiness,
  );
  t.ok(isMessage('ReadinessReport', report));
  return report.parts[0];
}

void t.test('it says how the agent takes turns in the newest calls', async (t) => {
  const part = await readPart(t, { channel: 'voice', turn_taking: call });
  t.same(part?.turn_taking, [
    { name: 'calls', value: '1 call' },
    { name: 'response latency', value: 'p50 640 ms, p95 640 ms, max 640 ms' },
    { name: 'lines without a reply', value: '1' },
  ]);
});

void t.test('without a call, it says nothing about turn-taking', async (t) => {
  const part = await readPart(t, { channel: 'chat' });
  t.notOk(part && 'turn_taking' in part);
});
