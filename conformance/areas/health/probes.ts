import type { Step } from '../../engine/probe-context.ts';
import { cost, type Probe } from '../../engine/probe.ts';
import { PREFLIGHT } from '../../engine/transcript/reading.ts';
import { claimsVoice } from '../../engine/transcript/call-messages.ts';

const get = (step: string, headers: Record<string, string> = {}): Step => ({
  endpoint: 'health',
  step,
  intent: 'valid',
  headers,
});

const probe: Probe = {
  id: PREFLIGHT,
  area: 'health',
  phase: 'preflight',
  exercises: ['HEALTH-001', 'HEALTH-002', 'HEALTH-005', 'HEALTH-010', 'HEALTH-011', 'HEALTH-031'],
  cost: cost(1),
  async run(context) {
    const plain = await context.send(get('plain'));
    if (plain && claimsVoice(plain)) context.voice.isClaimed = true;
  },
};

const forms: Probe = {
  id: 'health/forms',
  area: 'health',
  phase: 'accepted',
  exercises: ['HEALTH-006'],
  cost: cost(2),
  async run(context) {
    await Promise.all([
      context.send(get('with Accept', { accept: 'application/json' })),
      context.send(get('beside chat')),
    ]);
  },
};

const after: Probe = {
  id: 'health/after',
  area: 'health',
  phase: 'after',
  exercises: ['HEALTH-007'],
  cost: cost(1),
  async run(context) {
    await context.send(get('after refusals'));
  },
};

/** The scenarios of `GET /health`. */
export const healthScenarios: readonly Probe[] = [probe, forms, after];
