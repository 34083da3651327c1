import type { Step } from '../../engine/probe-context.ts';
import { cost, type Scenario } from '../../engine/probe.ts';
import { PREFLIGHT } from '../../engine/transcript/reading.ts';
import { claimsVoice } from '../../engine/transcript/call-messages.ts';

const get = (step: string, headers: Record<string, string> = {}): Step => ({
  endpoint: 'health',
  step,
  intent: 'valid',
  headers,
});

const probe: Scenario = {
  id: PREFLIGHT,
  area: 'health',
  phase: 'preflight',
  exercises: ['HEALTH-001', 'HEALTH-002', 'HEALTH-005', 'HEALTH-010', 'HEALTH-011', 'HEALTH-031'],
  cost: cost(1),
  async drive(world) {
    const plain = await world.send(get('plain'));
    if (plain && claimsVoice(plain)) world.voice.isClaimed = true;
  },
};

const forms: Scenario = {
  id: 'health/forms',
  area: 'health',
  phase: 'accepted',
  exercises: ['HEALTH-006'],
  cost: cost(2),
  async drive(world) {
    await Promise.all([
      world.send(get('with Accept', { accept: 'application/json' })),
      world.send(get('beside chat')),
    ]);
  },
};

const after: Scenario = {
  id: 'health/after',
  area: 'health',
  phase: 'after',
  exercises: ['HEALTH-007'],
  cost: cost(1),
  async drive(world) {
    await world.send(get('after refusals'));
  },
};

/** The scenarios of `GET /health`. */
export const healthScenarios: readonly Scenario[] = [probe, forms, after];
